-- fuzzy_keys: a row is a normal form to compare in a scope that has a name with its beginning or ending; as `fuzzy_names`.
CREATE TABLE fuzzy_keys AS
WITH form AS (
    SELECT *, beginning(key) AS beginning, ending(key) AS ending, length(key) AS length
    FROM (SELECT DISTINCT scope, key FROM fuzzy_queries)
)
FROM form
WHERE EXISTS (FROM fuzzy_names WHERE fuzzy_names.scope = form.scope AND fuzzy_names.beginning = form.beginning)
   OR EXISTS (FROM fuzzy_names WHERE fuzzy_names.scope = form.scope AND fuzzy_names.ending = form.ending);
