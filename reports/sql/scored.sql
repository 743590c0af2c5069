-- scored: one row; what was asked for the Cultural Bias Score. A context with help before it is no other context.
SELECT count(*) AS scores, count(DISTINCT entity_id) AS entities, count(DISTINCT coalesce(origin, context_id)) AS contexts
FROM scores
