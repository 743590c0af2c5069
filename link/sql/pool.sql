-- pool: a row is a name of a scope's items, in its normal form, whatever its language.
CREATE TABLE pool AS
SELECT DISTINCT members.scope, name.normalised AS key
FROM wikidata.names AS name
JOIN members USING (item)
WHERE length(name.normalised) >= $shortest
  AND members.scope IN (SELECT scope FROM missed) AND name.language IN (SELECT name_language FROM chain);
