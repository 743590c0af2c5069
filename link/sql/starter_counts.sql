-- A row is a topic, a kind of it and a language of the catalogue: the starter's entities of the kind that have a name in it. Without
-- a language they are all entities of the kind, without a kind all of the topic.
SELECT belongs.topic, belongs.kind, name.language, count(DISTINCT belongs.item) AS items
FROM belongs
ANTI JOIN unproven USING (topic, kind, item)
SEMI JOIN entities USING (item)
JOIN taken_names AS name USING (item)
SEMI JOIN starter_languages USING (language)
GROUP BY GROUPING SETS ((topic, kind, language), (topic, kind), (topic))
ORDER BY ALL
