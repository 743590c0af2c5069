-- fuzzy_names: a row is a normalised name of a scope's items, in any language, with its blocking keys.
CREATE TABLE fuzzy_names AS
SELECT *, beginning(key) AS beginning, ending(key) AS ending, length(key) AS length
FROM (
    SELECT DISTINCT members.scope, name.normalised AS key
    FROM topic_names AS name
    JOIN members USING (item)
    WHERE name.rule_count = 0 AND length(name.normalised) >= $shortest AND members.scope IN (SELECT scope FROM fuzzy_queries)
);
