-- A row is a job in a stage: how many of its responses, or extractions, are done, failed, and failed so that the next
-- run tries them again. What stands in a journal is counted beside.
SELECT 'generate' AS stage, model, language, topic,
    count(*) FILTER (WHERE status = 'ok') AS done,
    count(*) FILTER (WHERE status = 'failed') AS failed,
    count(*) FILTER (WHERE status = 'failed' AND retryable IS DISTINCT FROM false) AS retryable
FROM responses GROUP BY ALL
UNION ALL
SELECT 'unread', model, language, topic, 0, count(*), 0 -- failed responses of those that an extractor is to read
FROM responses
WHERE status = 'failed' AND sample < (SELECT min(sample) FROM run_extractors)
GROUP BY ALL
UNION ALL
SELECT 'extract', model, language, topic,
    count(*) FILTER (WHERE status = 'ok'),
    count(*) FILTER (WHERE status = 'failed'),
    count(*) FILTER (WHERE status = 'failed' AND retryable IS DISTINCT FROM false)
FROM extractions GROUP BY ALL
