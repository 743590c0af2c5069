-- The tables of a snapshot from the rows as they came, in part_items, part_names, ...: each row once, claims resolved
-- through redirects, and sorted by what they are looked up by. The tables' rows are described in snapshot.sql.
-- Within an item as it came no row stands twice; only what came more than once has to be gone through for it.

CREATE TABLE snapshot.redirects AS
SELECT item, max(target) AS target FROM part_redirects WHERE item <> target GROUP BY item ORDER BY item;

CREATE TABLE snapshot.items AS
SELECT item, max(sitelinks) AS sitelinks, max(revision) AS revision FROM part_items GROUP BY item ORDER BY item;

-- repeated: a row is an item that came more than once.
CREATE TEMP TABLE repeated AS
SELECT item
FROM part_items
WHERE (SELECT count(*) FROM part_items) > (SELECT count(*) FROM snapshot.items)
GROUP BY item
HAVING count(*) > 1;

CREATE TABLE snapshot.descriptions AS
SELECT item, language, description FROM part_descriptions ANTI JOIN repeated USING (item)
UNION ALL
SELECT item, language, min(description)
FROM part_descriptions SEMI JOIN repeated USING (item)
GROUP BY item, language
ORDER BY item, language;

-- A name that is both label and alias is a label ('label' > 'alias').
CREATE TABLE snapshot.names AS
SELECT item, language, name, kind, normalised FROM part_names ANTI JOIN repeated USING (item)
UNION ALL
SELECT item, language, name, max(kind), normalised
FROM part_names SEMI JOIN repeated USING (item)
GROUP BY item, language, name, normalised
ORDER BY language, normalised, item, name;

-- mended: a row is an item whose claims may be the same once redirects are followed.
CREATE TEMP TABLE mended AS
SELECT item FROM repeated
UNION
SELECT claim.item FROM part_claims AS claim SEMI JOIN snapshot.redirects AS redirect ON claim.target = redirect.item;

CREATE TABLE snapshot.claims AS
SELECT item, property, target FROM part_claims ANTI JOIN mended USING (item)
UNION ALL
SELECT DISTINCT claim.item, claim.property, coalesce(redirect.target, claim.target)
FROM part_claims AS claim
SEMI JOIN mended ON mended.item = claim.item
LEFT JOIN snapshot.redirects AS redirect ON claim.target = redirect.item
ORDER BY property, target, item;

CREATE TABLE snapshot.kinds AS SELECT DISTINCT item, topic, kind FROM part_kinds ORDER BY item, topic, kind;
