-- Davies-Bouldin index of native and Western entities
-- separations: a row is how far apart a model holds native and Western entities of a type at a layer, or the mean
-- over types.
--   $model = NULL: the model; NULL: all
--   place: language, culture, type and gender of the entities; the contexts, where they are not neutral causal ones
--   index: the Davies-Bouldin index of these entities; the lower, the further apart
--   entities: native + Western
-- printed: model, place, layer, index, by_chance, p, contexts, entities
SELECT
    * REPLACE (CASE WHEN $model IS NULL THEN model END AS model),
    concat_ws(
        ', ', concat_ws(' ', language, culture), coalesce(entity_type, 'all ' || types || ' types'), gender,
        nullif(form, 'causal'), nullif(setting, 'neutral')
    ) AS place,
    estimate AS index, concat_ws(' + ', native_entities, western_entities) AS entities
FROM separations
WHERE $model IS NULL OR model = $model
ORDER BY separations.model, dataset, language, culture, form, setting, entity_type NULLS LAST, gender, contexts, layer
