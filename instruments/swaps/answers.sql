-- What the present readers make of answers about texts with swapped entities.

-- swap_answers: a row is what a model said of a context with an entity in its gap, once for each draw that has the text, as the
-- present reader reads it. What it cannot read is a failure with the answer; what it has not read yet, too.
CREATE VIEW swap_answers AS
SELECT
    s.* REPLACE (
        CASE WHEN s.status = 'ok' THEN coalesce(r.status, 'failed') ELSE s.status END AS status,
        CASE WHEN s.status <> 'ok' THEN s.error WHEN r.status IS NULL THEN 'not read yet' ELSE r.error END AS error,
        CASE WHEN s.status = 'ok' AND r.status IS DISTINCT FROM 'ok' THEN false ELSE s.retryable END AS retryable
    ),
    r.reader_id, r.answer, CASE WHEN s.task = 'sentiment' THEN (r.answer = s.gold)::BIGINT ELSE r.matched END AS matched,
    r.predicted, r.elsewhere, r.refused, r.strict, r.strict_predicted
FROM swap_responses AS s
LEFT JOIN run_asked AS q
    ON q.instrument = 'swaps' AND q.reads AND q.what = concat_ws(' ', s.task, s.answer_method, s.language)
LEFT JOIN stored_swap_readings AS r ON r.answer_id = s.answer_id AND r.reader_id = q.id;

-- failed_swap_readings: a row is an answer that cannot be read.
CREATE VIEW failed_swap_readings AS
SELECT 'swap' AS stage, a.model, a.language, a.topic, a.error, a.retryable
FROM swap_answers AS a
WHERE a.status = 'failed' AND a.raw IS NOT NULL AND NOT a.retryable;
