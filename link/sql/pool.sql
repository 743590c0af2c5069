-- pool: a row is a name of a scope's items, in its normal form, whatever its language, with what it is compared by.
CREATE TABLE pool AS
SELECT *, beginning(key) AS beginning, ending(key) AS ending, length(key) AS length
FROM (
    SELECT DISTINCT members.scope, name.normalised AS key
    FROM spelled AS name
    JOIN members USING (item)
    WHERE name.turns = 0 AND length(name.normalised) >= $shortest AND members.scope IN (SELECT scope FROM missed)
);
