-- makieval: a row is a number of the study's tables: a metric of a model over the whole design, or in a language, in a topic,
-- in a language about a country, or in a pair of languages. 'granularity_defined' is of the topics whose specific kinds the
-- study defines. Specificity and its gain are of one condition, the others a mean over conditions but about a country.
SELECT
    level, metric, model, nullif(language, '*') AS language, nullif(facets['other_language'], '*') AS other_language,
    nullif(topic, '*') AS topic, nullif(condition, '*') AS condition, nullif(nullif(country, '*'), 'none') AS country,
    estimate, low, high, no_interval, cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE metric IN ('granularity', 'granularity_defined', 'diversity', 'specificity', 'specificity_gain', 'consensus')
    AND CASE
        WHEN metric IN ('specificity', 'specificity_gain') THEN level IN (
            'model, condition', 'model, language, condition', 'model, topic, condition',
            'model, language, condition, country'
        )
        WHEN metric = 'consensus' THEN level IN (
            'model', 'model, language', 'model, topic', 'model, language, other_language'
        )
        ELSE level IN ('model', 'model, language', 'model, topic', 'model, language, condition, country')
    END
ORDER BY level, metric, model, language, other_language, topic, condition, country;
