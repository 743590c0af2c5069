-- A row: what a judged response adds to a share, with the columns of answers.sql.
SELECT what, language, topic, hits, cases, disputed, hits_at_best, cases_at_best, hits_at_worst, cases_at_worst
FROM audit_response_shares
ORDER BY what, language, topic, extraction_id
