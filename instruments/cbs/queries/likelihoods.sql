-- A row is a scored entity in a context of one unit. A context with help is known by the plain one's id.
SELECT
    setting, coalesce(phrasing, '') AS phrasing, coalesce(context_prefix, '') AS context_prefix,
    coalesce(base_context_id, context_id) AS context_id, coalesce(pair, '') AS pair,
    entity_id, native, log_probability, tokens
FROM scores
WHERE status = 'ok' AND model = $model AND dataset = $dataset AND language = $language AND culture = $culture
    AND entity_type = $entity_type AND form = $form
ORDER BY setting, context_id, entity_id
