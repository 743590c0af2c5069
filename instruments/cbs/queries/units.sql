-- A row is a type of entities that was scored: what is compared within, whether it is the translation of contexts that were
-- scored, too, and the languages of what it translates: none where it is no translation.
SELECT
    s.model, s.dataset, s.language, s.culture, s.entity_type, s.form,
    bool_or((s.model, s.source_context_id) IN (SELECT (model, context_id) FROM scores WHERE status = 'ok')) AS again,
    coalesce(list(DISTINCT c.source_language ORDER BY c.source_language) FILTER (c.source_language IS NOT NULL), []) AS sources
FROM scores AS s
LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
WHERE s.status = 'ok'
GROUP BY ALL
ORDER BY ALL
