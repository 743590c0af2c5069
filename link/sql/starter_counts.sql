-- A row is a count: of a topic's items in the starter, or of what is left out, with the reason.
WITH taken AS (
    FROM belongs ANTI JOIN unproven USING (topic, kind, item)
)
SELECT 'topic' AS of, topic AS what, count(DISTINCT item) AS count FROM taken SEMI JOIN entities USING (item) GROUP BY topic
UNION ALL
SELECT 'left out', 'persons without an occupation or a work', count(DISTINCT item) FROM unproven ANTI JOIN taken USING (item)
UNION ALL
SELECT 'left out', 'names in too few languages', count(*)
FROM proven ANTI JOIN entities USING (item) ANTI JOIN (FROM ranked ANTI JOIN near USING (item)) AS beyond USING (item)
UNION ALL
SELECT 'left out', 'beyond the first', count(*) FROM ranked ANTI JOIN near USING (item)
UNION ALL
SELECT 'left out', 'names of something else', count(*) FROM names_of_others SEMI JOIN entities USING (item)
ORDER BY of DESC, what
