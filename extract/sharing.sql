-- What an extractor has answered about texts that are to be extracted: a row is a response of this run, with the answer to
-- the request about its text. Where several files have one, the first by name speaks.
SELECT DISTINCT ON (wanted.response_id)
    wanted.response_id, stored.raw, stored.finish_reason, stored.attempts, stored.prompt_tokens, stored.completion_tokens
FROM read_parquet($files, filename = 'file') AS stored
JOIN wanted USING (asked_id)
WHERE stored.status = 'ok' AND stored.raw IS NOT NULL
ORDER BY wanted.response_id, stored.file, stored.response_id
