-- Cultural Bias Scores by model, culture and type
-- culture_scores: a row is a model's Cultural Bias Score in one language and culture, for a type or over all types,
-- with its 95 % interval: whole entities, plain contexts. NULL in entity_type: over all types.
-- printed: model, dataset, form, language, culture, entity_type, setting, estimate, contexts
SELECT
    model, dataset, facets['form'] AS form, language, country AS culture, nullif(topic, '*') AS entity_type,
    condition AS setting, estimate, low, high, no_interval AS lacking, units AS contexts
FROM numbers
WHERE metric = 'cbs' AND method = 'sum' AND country <> '*' AND facets['phrasing'] IS NULL
    AND facets['context_prefix'] IS NULL
ORDER BY dataset, form, setting, model, language, culture, entity_type NULLS LAST
