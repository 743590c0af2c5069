-- entity_positions: a row is where an entity stands on the map of its type.
SELECT model, dataset, language, culture, entity_type, layer, contexts, entity_id, entity, native, x, y
FROM entity_positions
ORDER BY ALL
