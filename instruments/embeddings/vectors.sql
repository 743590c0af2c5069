-- A row is an entity of one type with its vector at one layer.
SELECT entity_id, entity, native, vector
FROM representations
WHERE status = 'ok' AND model = $model AND dataset = $dataset AND language = $language AND culture = $culture
    AND entity_type = $entity_type AND layer = $layer AND contexts = $contexts
ORDER BY entity_id
