-- items, claims: what is known, with the items of which an endpoint said only that they bear a name and what stands above them.
CREATE OR REPLACE VIEW wikidata.items AS
FROM draft.items UNION ALL SELECT DISTINCT item, NULL, NULL FROM draft.bearers ANTI JOIN draft.items USING (item);

CREATE OR REPLACE VIEW wikidata.claims AS
FROM draft.claims
UNION ALL
SELECT DISTINCT item, property, target, NULL FROM draft.bearers ANTI JOIN draft.items USING (item) WHERE property IS NOT NULL;

-- found: a row is an item that bears a name that was asked for, or that a topic is known to have.
CREATE OR REPLACE VIEW found AS
SELECT DISTINCT coalesce(redirect.target, hit.item) AS item
FROM (
    SELECT unnest(hits) AS item FROM draft.fetched WHERE way IN ('name', 'search')
    UNION ALL FROM draft.topic_items
) AS hit
LEFT JOIN draft.redirects AS redirect USING (item);

-- linked: a row is an item that was found and belongs to a topic: it may be linked, and is fetched whole.
CREATE OR REPLACE VIEW linked AS FROM found SEMI JOIN belonging USING (item);
