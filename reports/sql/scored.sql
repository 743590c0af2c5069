-- scored: one row; what was asked for the Cultural Bias Score.
SELECT count(*) AS scores, count(DISTINCT entity_id) AS entities, count(DISTINCT context_id) AS contexts
FROM scores
