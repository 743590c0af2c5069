-- A row is a text that no option is read in, refusals and ties left out: of each model, set, language and reader three,
-- with how many answers there are of that kind, of all that came.
WITH answered AS (
    SELECT
        r.dataset, r.language, r.model, r.method, r.reader, r.answer_id, trim(left(a.raw, 400)) AS raw,
        r.outcome = 'unread' AS is_lost
    FROM question_readings AS r
    INNER JOIN answers AS a USING (answer_id)
    WHERE r.kind = 'choice' AND r.reader <> '-' AND r.method = 'generated'
),
studies AS (
    SELECT dataset, language, model, method, reader, count(*) FILTER (is_lost) AS lost, count(*) AS answered
    FROM answered
    GROUP BY ALL
),
texts AS (
    SELECT
        dataset, language, model, method, reader, raw,
        row_number() OVER (PARTITION BY dataset, language, model, method, reader ORDER BY min(answer_id)) AS place
    FROM answered
    WHERE is_lost
    GROUP BY dataset, language, model, method, reader, raw
)
SELECT dataset, language, model, method, reader, raw, lost, answered
FROM texts
INNER JOIN studies USING (dataset, language, model, method, reader)
WHERE place <= 3
ORDER BY ALL
