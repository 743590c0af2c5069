-- What an extractor has answered about texts that are to be extracted: a row is an answer to the request about a response's
-- text, those of this run first, in the order of attempts. Of sibling runs the answers that were of use there.
SELECT
    wanted.response_id, stored.status, stored.attempts, stored.error, stored.retryable, stored.raw, stored.body, stored.ending,
    stored.finish_reason, stored.prompt_tokens, stored.completion_tokens, stored.extractor_model
FROM read_parquet($files, filename = 'file') AS stored
JOIN wanted USING (asked_id)
WHERE list_contains($own, stored.file) OR (stored.status = 'ok' AND stored.raw IS NOT NULL)
ORDER BY
    wanted.response_id, NOT list_contains($own, stored.file), stored.status = 'unusable' AND coalesce(stored.retryable, false),
    stored.attempts, stored.file, stored.response_id
