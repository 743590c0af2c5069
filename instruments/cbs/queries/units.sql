-- A row is a type of entities that was scored: what is compared within, and whether it is the translation of contexts that
-- were scored, too.
SELECT
    s.model, s.dataset, s.language, s.culture, s.entity_type, s.form,
    bool_or((s.model, s.source_context_id) IN (SELECT (model, context_id) FROM scores WHERE status = 'ok')) AS again
FROM scores AS s
WHERE s.status = 'ok'
GROUP BY ALL
ORDER BY ALL
