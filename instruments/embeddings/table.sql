-- The table that `polyculture embeddings` prints: a row is a type of entities at a layer.
SELECT
    model, dataset, language, culture, entity_type AS type, layer, contexts, estimate AS "Davies-Bouldin",
    CASE WHEN low IS NULL THEN NULL ELSE format('{:.2f} to {:.2f}', low, high) END AS "95 %",
    by_chance AS "by chance", CASE WHEN p < 0.0015 THEN '0.001' ELSE format('{:.3f}', p) END AS p,
    native_entities AS native, western_entities AS western
FROM separations
ORDER BY model, dataset, language, culture, type, contexts, layer
