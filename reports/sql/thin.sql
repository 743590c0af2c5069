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
        count(*) OVER (PARTITION BY metric) AS numbers
    FROM numbers
    WHERE estimate IS NOT NULL
        AND (
            (metric = 'granularity' AND level = 'model, language')
            OR (metric IN ('specificity', 'specificity_gain') AND level = 'model, language, condition, country')
            OR (metric = 'consensus' AND level = 'model, language, other_language')
        )
)
SELECT metric, model, language, other_language, condition, country, estimate, incidences, numbers
FROM shown
WHERE incidences < $fewest
ORDER BY array_position(['granularity', 'specificity', 'specificity_gain', 'consensus'], metric), incidences, model, language,
    other_language, condition, country;
