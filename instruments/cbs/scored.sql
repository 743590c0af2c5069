-- scored: one row; how many scores, entities and contexts there are. A context with a prefix counts as its base context.
SELECT count(*) AS scores, count(DISTINCT entity_id) AS entities, count(DISTINCT coalesce(base_context_id, context_id)) AS contexts
FROM scores
