-- separations: a row is how far apart a model holds the native and the Western entities of a type at a layer
-- (Davies-Bouldin index), as it was computed after the last vectors were made.
CREATE VIEW separations AS SELECT * FROM stored_separations WHERE model IN (SELECT model FROM run_models);

-- entity_positions: a row is where an entity stands on the map of its type.
CREATE VIEW entity_positions AS SELECT * FROM stored_entity_positions WHERE model IN (SELECT model FROM run_models);
