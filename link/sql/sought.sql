-- sought: a row is a normal form that is sought in a scope where a name has its beginning or ending.
CREATE TABLE sought AS
SELECT DISTINCT scope, key
FROM missed
WHERE (scope, beginning(key)) IN (SELECT (scope, beginning(key)) FROM pool)
   OR (scope, ending(key)) IN (SELECT (scope, ending(key)) FROM pool);
