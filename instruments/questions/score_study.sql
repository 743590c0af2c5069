-- The items of each data set whose scores were imported, with the groups that they belong to, and their names in the log.
SELECT
    q.set AS dataset, q.language, count(*) AS items, count(DISTINCT q.unit) AS units,
    list([q.question_id, q.unit] ORDER BY q.question_id) AS grouped, list(q.name ORDER BY q.question_id) AS names
FROM questions AS q
WHERE q.question_id IN (SELECT question_id FROM answers WHERE method = 'scored')
GROUP BY ALL ORDER BY ALL
