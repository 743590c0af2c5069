-- places: a row is a model and language that mention an item, and how often.
SELECT m.model, m.language, count(*) AS mentions
FROM links AS l
INNER JOIN mentions AS m USING (query)
WHERE l.qid = $qid AND l.status = 'linked' AND m.counted AND NOT m.hallucinated
GROUP BY ALL
ORDER BY ALL;
