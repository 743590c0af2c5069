-- A row is a type of entities that was scored: what is compared within, and whether it is the translation of contexts
-- that were scored, too.
SELECT
    model, dataset, language, culture, entity_type, form,
    bool_or((model, source_context_id) IN (SELECT (model, context_id) FROM scores WHERE status = 'ok')) AS again
FROM scores
WHERE status = 'ok'
GROUP BY ALL
ORDER BY ALL
