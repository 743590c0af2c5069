-- What models answered, as `shared_texts` reads texts: a row is an answer of a model to a question that was asked in one way, and
-- how often it gave it.
SELECT
    model, hash(question_id, method, prompt, "order") AS prompt_id, hash(coalesce(raw, scores::VARCHAR)) AS text, count(*) AS times
FROM read_answers
WHERE status = 'ok' AND coalesce(trim(raw), scores::VARCHAR, '') <> ''
GROUP BY ALL
