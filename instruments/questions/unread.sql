SELECT model, prompt, reader, raw, picked
FROM (
    SELECT
        a.model, a.prompt, r.reader, a.raw, r.picked,
        avg((r.picked IS NULL)::INT) OVER (PARTITION BY a.model, a.prompt, r.reader) AS lost
    FROM answers AS a
    JOIN answer_readings AS r ON r.answer_id = a.answer_id AND r.reader IN ('ours', 'publisher')
    JOIN questions AS q ON q.question_id = a.question_id
    WHERE q.set IN (SELECT unnest($sets))
)
WHERE lost >= $at_least
