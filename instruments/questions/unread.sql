-- A row is a reader that picks no option in half of a model's answers to a set's prompt or more, refusals included, with three
-- texts of these.
SELECT
    a.model, q.set, a.prompt, r.reader, count(*) FILTER (r.picked IS NULL) AS lost, count(*) AS answered,
    list_sort(list(DISTINCT a.raw) FILTER (r.picked IS NULL))[:3] AS texts
FROM answers AS a
INNER JOIN answer_readings AS r ON r.answer_id = a.answer_id AND r.reader IN ('ours', 'publisher')
INNER JOIN questions AS q ON q.question_id = a.question_id
WHERE q.set IN (SELECT unnest($sets))
GROUP BY ALL
HAVING lost >= 0.5 * answered
ORDER BY ALL
