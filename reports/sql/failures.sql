-- Why answers are missing
-- failures: a row is a reason why answers of a stage are missing, and for how many; the most frequent come first.
-- printed: stage, reason, rows, retryable
SELECT stage, reason, sum("rows")::BIGINT AS "rows", sum(retryable)::BIGINT AS retryable
FROM failures
GROUP BY stage, reason
ORDER BY "rows" DESC, stage, reason;
