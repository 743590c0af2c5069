-- fuzzy_names: a row is a normalised name of a scope's items, in any language, with its blocking keys.
CREATE TABLE fuzzy_names AS
SELECT DISTINCT members.scope, name.normalised AS key, name.beginning, name.ending, length(name.normalised) AS length
FROM near_names AS name
JOIN members USING (item)
WHERE members.scope IN (SELECT scope FROM fuzzy_queries);
