SELECT model, prompt, raw, picked
FROM (
    SELECT a.model, a.prompt, a.raw, r.picked, avg((r.picked IS NULL)::INT) OVER (PARTITION BY a.model, a.prompt) AS lost
    FROM answers AS a
    JOIN answer_readings AS r ON r.answer_id = a.answer_id AND r.reader = 'ours'
    JOIN questions AS q ON q.question_id = a.question_id
    WHERE q.set IN (SELECT unnest($sets))
)
WHERE lost >= $at_least
