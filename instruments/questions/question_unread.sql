-- A row is an answer that no option is read in, refusals and ties left out: of each model, set, language and reader three,
-- with how many there are of all that came.
SELECT dataset, language, model, method, reader, name, raw, ground, lost, answered
FROM (
    SELECT
        r.dataset, r.language, r.model, r.method, r.reader, r.name, left(a.raw, 400) AS raw, r.ground, r.outcome,
        count(*) FILTER (r.outcome = 'unread') OVER study AS lost,
        count(*) FILTER (r.outcome <> 'failed') OVER study AS answered,
        row_number() OVER (
            PARTITION BY r.dataset, r.language, r.model, r.method, r.reader, r.outcome ORDER BY r.answer_id
        ) AS place
    FROM question_readings AS r
    INNER JOIN answers AS a USING (answer_id)
    WHERE r.kind = 'choice' AND r.reader <> '-' AND r.method = 'generated'
    WINDOW study AS (PARTITION BY r.dataset, r.language, r.model, r.method, r.reader)
)
WHERE outcome = 'unread' AND place <= 3
ORDER BY dataset, language, model, method, reader, name
