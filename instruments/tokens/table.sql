-- The second table of `polyculture tokens`: a row is a type of entities of a model in a setting; tokens of an entity as it
-- was scored behind its contexts of all settings, beside the score under both rules, without help and other phrasings.
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
        model, dataset, language, culture, entity_type, form, setting,
        avg(cbs) FILTER (rule = 'sum') AS cbs_sum, avg(cbs) FILTER (rule = 'mean') AS cbs_mean
    FROM cbs_contexts
    WHERE context_prefix IS NULL AND phrasing IS NULL
    GROUP BY ALL
),
-- Spearman's correlation of an entity's tokens and what it adds to the score by `sum`.
effect AS (
    SELECT
        model, dataset, language, culture, entity_type, form,
        any_value(format('{:.2f} [{:.2f}, {:.2f}]', correlation, low, high)) FILTER (native) AS native_effect,
        any_value(format('{:.2f} [{:.2f}, {:.2f}]', correlation, low, high)) FILTER (NOT native) AS western_effect
    FROM token_effect
    WHERE rule = 'sum' AND correlation IS NOT NULL
    GROUP BY ALL
)
SELECT
    model, dataset, language, culture, entity_type AS type, native_tokens, western_tokens, native_single, western_single,
    setting, cbs_sum, cbs_mean, native_effect, western_effect
FROM lengths
LEFT JOIN effect USING (model, dataset, language, culture, entity_type, form)
LEFT JOIN bias USING (model, dataset, language, culture, entity_type, form)
ORDER BY model, dataset, language, culture, type, form, setting
