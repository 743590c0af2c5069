-- Metrics by model and language
-- headline: a row is a metric of a model, over all languages (`language` is NULL) or, where there are several, in one. Where
-- models lack different cells, it is over those that all have (`shared`). Culture specificity and its gain are those of
-- prompts that name the country; where no prompt is known to, of imported texts about a country whose file does not say its
-- prompts (`condition`).
--   shared: whether it is over the cells that all models have, as some lack others
--   missing: cells of any model that it is not over
-- printed: model, language, metric, estimate
-- side by side: metric
SELECT model, nullif(language, '*') AS language, metric, condition, estimate, low, high, no_interval, no_estimate,
    wide_low, wide_high, no_wide,
    cells, missing, level LIKE '%, shared' AS shared, units AS responses, n AS incidences
FROM numbers AS n
INNER JOIN declared_metrics AS d ON n.metric = d.name AND d.compared = 'always'
WHERE
    n.measure = 'entities'
    AND (language = '*' OR (SELECT count(DISTINCT language) > 1 FROM prompts))
    AND CASE WHEN per_country
        THEN regexp_full_match(level, 'model(, language)?, condition(, shared)?')
            AND (condition = 'explicit' OR (condition = 'unstated' AND statistic <> 'gain'))
        ELSE regexp_full_match(level, 'model(, language)?(, shared)?')
    END
QUALIFY shared = bool_or(shared) OVER (PARTITION BY model, language, metric)
    AND (condition != 'unstated' OR NOT bool_or(condition = 'explicit') OVER ())
ORDER BY model, language NULLS FIRST, place;
