-- The tables of a snapshot from the rows as they came: each row once, claims resolved through redirects, and sorted
-- by what they are looked up by. The tables' rows are described in snapshot.sql.

CREATE TABLE snapshot.redirects AS
SELECT item, max(target) AS target FROM wikidata.redirects WHERE item <> target GROUP BY item ORDER BY item;

CREATE TABLE snapshot.items AS
SELECT item, max(sitelinks) AS sitelinks, max(revision) AS revision FROM wikidata.items GROUP BY item ORDER BY item;

CREATE TABLE snapshot.descriptions AS
SELECT item, language, min(description) AS description
FROM wikidata.descriptions
GROUP BY item, language
ORDER BY item, language;

-- A name that is both label and alias is a label ('label' > 'alias').
CREATE TABLE snapshot.names AS
SELECT item, language, name, max(kind) AS kind, normalised
FROM wikidata.names
GROUP BY item, language, name, normalised
ORDER BY language, normalised, item, name;

CREATE TABLE snapshot.claims AS
SELECT DISTINCT claim.item, claim.property, coalesce(redirect.target, claim.target) AS target
FROM wikidata.claims AS claim LEFT JOIN snapshot.redirects AS redirect ON claim.target = redirect.item
ORDER BY property, target, item;

CREATE TABLE snapshot.kinds AS SELECT DISTINCT item, topic, kind FROM wikidata.kinds ORDER BY item, topic, kind;
