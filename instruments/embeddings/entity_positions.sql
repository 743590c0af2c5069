-- Where entities stand on the map of their type
-- entity_positions: a row is where an entity stands on the map of its type.
SELECT
    model, dataset, language, culture, entity_type, coalesce(gender, '') AS gender, coalesce(form, '') AS form,
    coalesce(setting, '') AS setting, layer, contexts, entity_id, entity, native, x, y
FROM entity_positions
ORDER BY ALL
