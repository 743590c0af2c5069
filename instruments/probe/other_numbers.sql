-- A row is another number of a model about a country or a culture: a metric of its texts whose prompts name the country, in
-- the language of the prompts, or its Cultural Bias Score over types, in English or in the culture's own language.
SELECT model, language, concat(replace(metric, '_', ' '), ' of texts') AS number, country AS place, estimate AS value
FROM numbers
WHERE level = 'model, language, condition, country' AND condition = 'explicit' AND country <> 'none'
    AND metric IN ('granularity', 'diversity', 'specificity', 'specificity_gain') AND estimate IS NOT NULL
UNION ALL
SELECT
    model, NULL AS language,
    concat_ws(
        ', ', 'Cultural Bias Score', dataset, condition, facets['form'], method,
        CASE WHEN language = 'en' THEN 'in English' ELSE 'in own languages' END
    ) AS number,
    country AS place, avg(estimate) AS value
FROM numbers
WHERE metric = 'cbs' AND topic = '*' AND country <> '*' AND language <> '*'
    AND facets['phrasing'] IS NULL AND facets['context_prefix'] IS NULL
GROUP BY ALL
ORDER BY ALL
