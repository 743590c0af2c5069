-- near_names: a row is a name of an item of the topics that begins or ends as the normal form of a query in its language does, with its blocking keys. Both
-- keys have the first letter, so that is compared first; then two letters, since the keys cost more.
CREATE TABLE near_names AS
WITH wanted AS (
    SELECT DISTINCT beginning(key) AS beginning, ending(key) AS ending FROM fuzzy_queries
),
letters AS (
    SELECT DISTINCT chain.name_language AS language, ord(query.key) AS letter
    FROM fuzzy_queries AS query JOIN chain USING (language, fold)
),
lettered AS (
    SELECT item, language, name, normalised
    FROM wikidata.names AS name
    SEMI JOIN topic_items USING (item)
    SEMI JOIN letters ON letters.language = name.language AND letters.letter = ord(name.normalised)
)
SELECT *
FROM (
    SELECT *, beginning(normalised) AS beginning, ending(normalised) AS ending
    FROM lettered
    WHERE length(normalised) >= $shortest AND (
        normalised[:2] IN (SELECT beginning[:2] FROM wanted)
        OR normalised[1] || normalised[-2:] IN (SELECT ending[1] || ending[-2:] FROM wanted)
    )
)
WHERE beginning IN (SELECT beginning FROM wanted) OR ending IN (SELECT ending FROM wanted);
