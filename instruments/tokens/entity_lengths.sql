-- Tokens per entity, and Cultural Bias Score
-- entity_lengths: a row is a type of entities of a model in a setting: tokens of an entity as it was scored behind its
-- contexts of all settings, beside the score under two rules, without prefix and other phrasings.
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities
--   native: mean number of tokens of a native entity
--   western: mean number of tokens of a Western entity
--   native_single: share of native entities that are one token, 0 to 1
--   western_single: share of Western entities that are one token, 0 to 1
--   cbs_sum: Cultural Bias Score by the log-probability of the whole entity
--   cbs_mean: Cultural Bias Score by the log-probability per token
--   native_effect: Spearman's correlation of a native entity's tokens and what it adds to the score by `sum`
--   western_effect: the same of Western entities
-- printed: model, place, setting, native, western, cbs_sum, cbs_mean
-- no rows: tokens per entity: nothing is scored yet; see polyculture cbs
WITH lengths AS (
    SELECT
        model, dataset, language, culture, entity_type, form,
        avg(tokens) FILTER (native) AS native_tokens,
        avg(tokens) FILTER (NOT native) AS western_tokens,
        avg((tokens = 1)::INT) FILTER (native) AS native_single,
        avg((tokens = 1)::INT) FILTER (NOT native) AS western_single
    FROM scores
    WHERE status = 'ok' AND context_prefix IS NULL AND phrasing IS NULL
    GROUP BY ALL
),
bias AS (
    SELECT
        model, dataset, language, country AS culture, topic AS entity_type, facets['form'] AS form, condition AS setting,
        any_value(estimate) FILTER (method = 'sum') AS cbs_sum, any_value(estimate) FILTER (method = 'mean') AS cbs_mean
    FROM numbers
    WHERE measure = 'cbs' AND metric = 'cbs' AND facets['context_prefix'] IS NULL AND facets['phrasing'] IS NULL
    GROUP BY ALL
),
-- Spearman's correlation of an entity's tokens and what it adds to the score by `sum`.
effect AS (
    SELECT
        model, dataset, language, culture, entity_type, form,
        any_value(correlation) FILTER (native) AS native_effect,
        any_value(low) FILTER (native) AS native_effect_low,
        any_value(high) FILTER (native) AS native_effect_high,
        any_value(correlation) FILTER (NOT native) AS western_effect,
        any_value(low) FILTER (NOT native) AS western_effect_low,
        any_value(high) FILTER (NOT native) AS western_effect_high
    FROM token_effect
    WHERE rule = 'sum' AND correlation IS NOT NULL
    GROUP BY ALL
)
SELECT
    CASE WHEN $model IS NULL THEN model END AS model, dataset, form,
    concat_ws(' ', language, culture) || ', ' || entity_type AS place, language, culture, entity_type,
    native_tokens AS native, western_tokens AS western, native_single, western_single,
    setting, cbs_sum, cbs_mean,
    native_effect, native_effect_low, native_effect_high, western_effect, western_effect_low, western_effect_high
FROM lengths
LEFT JOIN effect USING (model, dataset, language, culture, entity_type, form)
LEFT JOIN bias USING (model, dataset, language, culture, entity_type, form)
WHERE $model IS NULL OR lengths.model = $model
ORDER BY lengths.model, dataset, language, culture, entity_type, form, setting
