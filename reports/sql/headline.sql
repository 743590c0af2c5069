-- Metrics by model and language
-- headline: a row is a metric of a model, over all languages (`language` is NULL) or in one. Culture specificity and
-- its gain are those of prompts that name the country; 'granularity_defined' is without topics whose specific kinds
-- the study does not define.
-- printed: model, language, metric, estimate
-- side by side: granularity, diversity, specificity, specificity_gain, consensus
SELECT model, nullif(language, '*') AS language, metric, estimate, low, high, no_interval,
    wide_low AS wordings_low, wide_high AS wordings_high, no_wide AS no_wordings_interval,
    cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE (level IN ('model', 'model, language') AND metric IN ('granularity', 'granularity_defined', 'diversity', 'consensus'))
    OR (
        level IN ('model, condition', 'model, language, condition') AND condition = 'explicit'
        AND metric IN ('specificity', 'specificity_gain')
    )
ORDER BY model, language NULLS FIRST, metric;
