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
-- (Davies-Bouldin index), or the mean over types: their numbers side by side.
--   entity_type: NULL: the mean over types, in which genders of a type count as one
--   gender: 'female' | 'male', of types whose entities or contexts have one
--   form: 'causal' | 'masked': of the contexts
--   layer: 0 is what the first layer reads
--   layer_name: how the layer was asked for: 'first', 'middle', 'last'; NULL: by number
--   comparison: hash of the contexts
--   contexts: in which entities stood; a vector is the mean over those that its entity fits
--   contexts_fewest: of the entity that fits the fewest
--   contexts_most: of the entity that fits the most
--   estimate: the Davies-Bouldin index; the lower, the further apart
--   by_chance: the mean index with the cultures of the entities permuted
--   p: share of permutations with as low an index
--   failed: entities without a vector at a layer that was asked for in these contexts
--   types: of a mean: how many types
--   lacking: why there is no index
CREATE VIEW separations AS
SELECT
    model, dataset, language, country AS culture, nullif(topic, '*') AS entity_type, facets['gender'] AS gender,
    facets['form'] AS form, condition AS setting, facets['layer']::BIGINT AS layer, facets['layer_name'] AS layer_name,
    facets['comparison'] AS comparison, any_value(sizes['contexts']) AS contexts,
    any_value(sizes['contexts_fewest']) AS contexts_fewest, any_value(sizes['contexts_most']) AS contexts_most,
    any_value(estimate) FILTER (metric = 'davies_bouldin') AS estimate,
    any_value(estimate) FILTER (metric = 'by_chance') AS by_chance, any_value(estimate) FILTER (metric = 'p') AS p,
    any_value(sizes['native_entities']) AS native_entities, any_value(sizes['western_entities']) AS western_entities,
    any_value(sizes['failed']) AS failed, CASE WHEN topic = '*' THEN any_value(cells) END AS types,
    any_value(no_estimate) FILTER (metric = 'davies_bouldin') AS lacking
FROM numbers
WHERE measure = 'embeddings' AND model IN (SELECT model FROM run_models)
GROUP BY model, dataset, language, country, topic, condition, facets;

-- entity_positions: a row is where an entity stands on the map of its type.
CREATE VIEW entity_positions AS
SELECT e.* EXCLUDE (inputs)
FROM stored_entity_positions AS e
SEMI JOIN run_measures AS m ON m.measure = 'embeddings' AND e.inputs = m.inputs
WHERE e.model IN (SELECT model FROM run_models);
