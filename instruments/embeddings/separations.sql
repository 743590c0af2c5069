-- separations: a row is how far apart a model holds native and Western entities of a type at a layer.
SELECT * FROM separations ORDER BY model, dataset, language, culture, entity_type, contexts, layer
