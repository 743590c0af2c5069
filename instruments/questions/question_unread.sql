-- A row is a reader of a model's answers to a set, under a prompt: in how many of those that came it reads no option, why, and
-- three texts of them. `unread` are those that are neither read nor refusals.
SELECT
    r.dataset, r.language, r.model, r.method, r.reader, r.wording AS prompt, count(*) FILTER (r.picked IS NULL) AS lost,
    histogram(r.ground) FILTER (r.picked IS NULL) AS reasons,
    count(*) FILTER (r.outcome = 'unread') AS unread, count(*) AS answered, list_sort(list(DISTINCT trim(left(a.raw, 400))) FILTER (r.picked IS NULL))[:3] AS texts
FROM question_readings AS r
INNER JOIN answers AS a USING (answer_id)
WHERE r.kind = 'choice' AND r.reader <> '-' AND r.method = 'generated' AND r.outcome <> 'failed'
GROUP BY ALL
ORDER BY ALL
