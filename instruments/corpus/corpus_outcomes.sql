-- Pairs that the Western entity wins, the native one wins, or neither
-- corpus_outcomes: a row is how often the Western entity of a pair is the more probable one by a corpus, how often
-- the native one, and how often neither, for a type of entities in one setting, or over types, where there are several
-- (NULL in entity_type).
--   $rule = sum|mean|probability: the likelihood of an entity: sum (of the whole), mean (per token) or probability (mean of the tokens')
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities
--   western_more: of all pairs: the Western entity is the more probable one
--   native_more: of all pairs: the native entity is the more probable one
--   unseen: of all pairs: ties of entities that the corpus holds neither of behind the context
-- printed: place, setting, western_more, native_more, tied, unseen
WITH pairs AS (
    SELECT
        model, dataset, facets['form'] AS form, language, country AS culture, nullif(topic, '*') AS entity_type,
        condition AS setting, any_value(no_interval) FILTER (metric = 'cbs') AS lacking,
        any_value(estimate) FILTER (metric = 'cbs') AS western_more, any_value(low) FILTER (metric = 'cbs') AS western_more_low,
        any_value(high) FILTER (metric = 'cbs') AS western_more_high,
        any_value(estimate) FILTER (metric = 'native_more') AS native_more,
        any_value(low) FILTER (metric = 'native_more') AS native_more_low,
        any_value(high) FILTER (metric = 'native_more') AS native_more_high,
        any_value(estimate) FILTER (metric = 'tied') AS tied, any_value(estimate) FILTER (metric = 'unseen') AS unseen,
        any_value(units) AS contexts, any_value(n) AS pairs
    FROM numbers
    WHERE measure = 'cbs' AND starts_with(model, 'ngram:') AND method = $rule AND language <> '*'
        AND facets['phrasing'] IS NULL AND facets['context_prefix'] IS NULL AND ($model IS NULL OR model = $model)
    GROUP BY ALL
)
SELECT
    model, dataset, form, language, culture, entity_type,
    concat_ws(' ', language, culture) || ', ' || coalesce(entity_type, 'all types') AS place,
    * EXCLUDE (model, dataset, form, language, culture, entity_type)
FROM pairs
QUALIFY entity_type IS NOT NULL
    OR count(DISTINCT entity_type) OVER (PARTITION BY model, dataset, form, language, culture, setting) > 1
ORDER BY model, dataset, form, language, culture, entity_type NULLS FIRST, setting
