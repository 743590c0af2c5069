-- found: a row is an item that a search found, or that a topic is known to have.
CREATE OR REPLACE VIEW found AS
SELECT DISTINCT coalesce(redirect.target, hit.item) AS item
FROM (
    SELECT unnest(hits) AS item FROM wikidata.fetched WHERE language <> ''
    UNION ALL FROM draft.topic_items
) AS hit
LEFT JOIN wikidata.redirects AS redirect USING (item);

-- linked: a row is an item that was found and stands below a root of some topic: it may be linked.
CREATE OR REPLACE VIEW linked AS
WITH RECURSIVE below AS (
    FROM roots
    UNION
    SELECT claim.item
    FROM below JOIN wikidata.claims AS claim ON claim.target = below.item
    WHERE claim.property IN ('P31', 'P279', 'P361')
)
FROM found SEMI JOIN below USING (item);
