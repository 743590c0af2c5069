-- Items without a country, by topic
-- items_without_country: a row is a topic: how many different items its mentions are linked to, and of how many of these no country of
-- today is known. They count against the specificity of every country.
--   items: distinct linked items
--   without_country: those of them that no country is known of
-- printed: topic, items, without_country
SELECT c.topic, count(DISTINCT i.qid) AS items, count(DISTINCT i.qid) FILTER (a.qid IS NULL) AS without_country
FROM cell_incidence AS i
INNER JOIN numbered_cells AS c USING (cell)
LEFT JOIN (SELECT DISTINCT qid FROM associations) AS a USING (qid)
GROUP BY c.topic
ORDER BY c.topic;
