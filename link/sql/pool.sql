-- pool: a row is a name of a scope's items, in its normal form, whatever its language, with what it is compared by.
CREATE TABLE pool AS
SELECT *, beginning(key) AS beginning, ending(key) AS ending, length(key) AS length
FROM (
    SELECT DISTINCT members.scope, name.normalised AS key
    FROM wikidata.names AS name
    JOIN members USING (item)
    WHERE length(name.normalised) >= $shortest
      AND members.scope IN (SELECT scope FROM missed) AND name.language IN (SELECT name_language FROM chain)
);
