-- What runs beside this one know of texts that are to be extracted: a row is a response of this run, with the extractor's
-- answer about the same text. Where several runs have one, the first by file name speaks.
WITH answers AS (
    SELECT files.run, stored.*
    FROM read_parquet($extractions, filename = 'file') AS stored
    JOIN files USING (file)
    WHERE stored.status = 'ok' AND stored.raw IS NOT NULL AND stored.extractor_id = $extractor
),
texts AS (
    SELECT DISTINCT files.run, stored.response_id, stored.text
    FROM read_parquet($responses, filename = 'file') AS stored
    JOIN files USING (file)
    WHERE stored.status = 'ok'
)
SELECT DISTINCT ON (wanted.response_id)
    wanted.response_id, answers.raw, answers.finish_reason, answers.attempts, answers.prompt_tokens,
    answers.completion_tokens
FROM answers
JOIN texts ON texts.run = answers.run AND texts.response_id = answers.response_id
JOIN wanted ON wanted.text = texts.text
ORDER BY wanted.response_id, answers.file, answers.response_id
