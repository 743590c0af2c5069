-- Numbers that rest on few linked items
-- thin: a row is a number of the figures that rests on fewer than $fewest linked items, each counted once per
-- response; `numbers` is how many numbers of its metric the figures have.
--   numbers: how many numbers of the metric the figures have
--   $fewest = 10: linked items that a number rests on, at the least
-- printed: metric, model, language, other_language, condition, country, estimate, incidences
WITH shown AS (
    SELECT
        metric, model, language, nullif(facets['other_language'], '*') AS other_language,
        nullif(condition, '*') AS condition, nullif(country, '*') AS country, estimate, n AS incidences,
        count(*) OVER (PARTITION BY metric) AS numbers, place
    FROM numbers AS n
    INNER JOIN declared_metrics AS d ON n.metric = d.name AND d.compared = 'always'
    WHERE n.measure = 'entities' AND estimate IS NOT NULL
        AND level = CASE
            WHEN per_country THEN 'model, language, condition, country'
            WHEN statistic = 'overlap' THEN 'model, language, other_language'
            WHEN statistic = 'share' THEN 'model, language'
        END
)
SELECT metric, model, language, other_language, condition, country, estimate, incidences, numbers
FROM shown
WHERE incidences < $fewest
ORDER BY place, incidences, model, language,
    other_language, condition, country;
