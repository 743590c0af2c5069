-- compared_representations: a row is an entity's vector at a layer in a comparison: entities of two cultures and, where
-- they or their contexts have one, of one gender, in the same contexts. What is of both genders stands in both
-- comparisons. A layer that was asked for by two names is there once. Failures have no vector.
--   gender: 'female' | 'male': of the entities and the contexts that are compared, where these have one
--   comparison: hash of the contexts in which the entities are compared
--   layer: 0 is what the first layer reads, 1 what it gives, ...; -1: not known, nothing was read
--   layer_name: how the layer was asked for: 'first', 'middle', 'last'; NULL: by number
--   context_ids: the contexts in which the entity stood
--   vector: the mean of the hidden states of the entity's tokens
CREATE VIEW compared_representations AS
WITH
genders AS (
    SELECT
        model, dataset, language, culture, entity_type, form, comparison,
        list(DISTINCT entity_gender) FILTER (entity_gender IN ('female', 'male')) AS genders
    FROM representations
    GROUP BY ALL
),
of_gender AS (
    SELECT
        k.* EXCLUDE (gender),
        unnest(CASE WHEN k.gender IS NOT NULL THEN [k.gender] ELSE coalesce(g.genders, [NULL]) END) AS gender
    FROM representations AS k
    INNER JOIN genders AS g USING (model, dataset, language, culture, entity_type, form, comparison)
)
SELECT
    model, dataset, language, culture, entity_type, gender, form, setting, comparison, coalesce(layer, -1) AS layer,
    nullif(string_agg(DISTINCT asked_layer, ', ') FILTER (NOT regexp_full_match(asked_layer, '\d+')), '') AS layer_name,
    entity_id, any_value(entity) AS entity, any_value(native) AS native, any_value(contexts) AS contexts,
    any_value(context_ids) AS context_ids, any_value(vector) AS vector
FROM of_gender
WHERE is_of_gender(entity_gender, gender)
GROUP BY ALL;

-- separations: a row is how far apart a model holds the native and the Western entities of a type at a layer
-- (Davies-Bouldin index), or the mean over types, as it was computed after the last vectors were made.
CREATE VIEW separations AS SELECT * FROM stored_separations WHERE model IN (SELECT model FROM run_models);

-- entity_positions: a row is where an entity stands on the map of its type.
CREATE VIEW entity_positions AS SELECT * FROM stored_entity_positions WHERE model IN (SELECT model FROM run_models);
