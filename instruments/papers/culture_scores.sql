-- Cultural Bias Scores by model, culture and type
-- culture_scores: a row is a model's Cultural Bias Score in one language and culture, for a type or over all types,
-- with its 95 % interval: whole entities, plain contexts. NULL in entity_type: over all types.
-- printed: model, dataset, form, language, culture, entity_type, setting, estimate, contexts
SELECT
    model, dataset, form, language, culture, entity_type, setting, estimate, low, high, lacking, contexts
FROM bias_intervals
WHERE metric = 'cbs' AND rule = 'sum' AND culture IS NOT NULL AND phrasing IS NULL AND context_prefix IS NULL
ORDER BY dataset, form, setting, model, language, culture, entity_type NULLS LAST
