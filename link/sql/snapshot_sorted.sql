-- The tables of a snapshot but for its names, from the unsorted rows in `draft` (link/index/draft.py): distinct rows, claims with
-- redirects resolved, sorted by their lookup columns. Rows of one item record are distinct already: only items with several
-- records need deduplication.

-- An item is its number: 5 is Q5.

-- redirects: a row is an item that was merged into another.
CREATE TABLE snapshot.redirects AS
SELECT item, max(target) AS target FROM draft.redirects WHERE item <> target GROUP BY item ORDER BY item;

-- items: a row is a Wikidata item. `sitelinks` is NULL where the record says nothing of them.
CREATE TABLE snapshot.items AS
SELECT item, max(sitelinks) AS sitelinks, max(revision) AS revision FROM draft.items GROUP BY item ORDER BY item;

-- repeated: a row is an item with several records.
CREATE TEMP TABLE repeated AS
SELECT item
FROM draft.items
WHERE (SELECT count(*) FROM draft.items) > (SELECT count(*) FROM snapshot.items)
GROUP BY item
HAVING count(*) > 1;

-- descriptions: a row is the description of an item in one language.
CREATE TABLE snapshot.descriptions AS
SELECT item, language, description FROM draft.descriptions ANTI JOIN repeated USING (item)
UNION ALL
SELECT item, language, min(description)
FROM draft.descriptions SEMI JOIN repeated USING (item)
GROUP BY item, language
ORDER BY item, language;

-- redirected: a row is an item whose claims may be equal once redirects are resolved.
CREATE TEMP TABLE redirected AS
SELECT item FROM repeated
UNION
SELECT claim.item FROM draft.claims AS claim SEMI JOIN snapshot.redirects AS redirect ON claim.target = redirect.item;

-- claims: a row is a statement of best rank whose value is an item. `ended`: the year in which it ended, -32767 where that
-- is unknown; NULL: it has no end.
CREATE TABLE snapshot.claims AS
SELECT item, property, target, ended FROM draft.claims ANTI JOIN redirected USING (item)
UNION ALL
SELECT
    claim.item, claim.property, coalesce(redirect.target, claim.target),
    CASE WHEN bool_and(claim.ended IS NOT NULL) THEN max(claim.ended) END
FROM draft.claims AS claim
SEMI JOIN redirected ON redirected.item = claim.item
LEFT JOIN snapshot.redirects AS redirect ON claim.target = redirect.item
GROUP BY ALL
ORDER BY property, target, item;

-- kinds: a row is an item that was assigned to a topic's kind by hand, which gives its granularity. Wikidata has no such
-- data: a snapshot of a dump has no rows here.
CREATE TABLE snapshot.kinds AS SELECT DISTINCT item, topic, kind FROM draft.kinds ORDER BY item, topic, kind;

-- fetched: a row is what a live service was asked, with the items that it answered. `way`: 'name', the items that bear a name in a
-- language of Wikidata's; 'search', what its search finds; 'number', items that do not exist; 'linked', items that
-- an older snapshot links, which may have been merged since. Only a filled snapshot has rows.
CREATE TABLE snapshot.fetched AS
SELECT way, language, term, max(asked_at) AS asked_at, arg_max(hits, asked_at) AS hits
FROM draft.fetched GROUP BY way, language, term ORDER BY way, language, term;
