-- Davies-Bouldin index of native and Western entities
-- separations: a row is how far apart a model holds native and Western entities of a type at a layer, or the mean
-- over types.
-- printed: model, dataset, language, culture, entity_type, gender, layer, estimate, corrected, by_chance, p,
-- contexts, native_entities, western_entities
SELECT * FROM separations
ORDER BY model, dataset, language, culture, form, setting, entity_type NULLS LAST, gender, contexts, layer
