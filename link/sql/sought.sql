-- sought: a row is a normal form that is sought in a scope where a name has its beginning or ending; as in `pool`.
CREATE TABLE sought AS
WITH form AS (
    SELECT *, beginning(key) AS beginning, ending(key) AS ending, length(key) AS length
    FROM (SELECT DISTINCT scope, key FROM missed)
)
FROM form
WHERE EXISTS (FROM pool WHERE pool.scope = form.scope AND pool.beginning = form.beginning)
   OR EXISTS (FROM pool WHERE pool.scope = form.scope AND pool.ending = form.ending);
