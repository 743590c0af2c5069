-- A row is a scored entity in a context of one unit.
SELECT setting, context_id, entity_id, native, log_probability, tokens
FROM scores
WHERE status = 'ok' AND model = $model AND dataset = $dataset AND language = $language AND culture = $culture
    AND entity_type = $entity_type AND form = $form
ORDER BY setting, context_id, entity_id
