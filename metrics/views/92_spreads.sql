-- spreads: a row is the mean of several numbers of a model under one condition, with their variance and standard deviation
-- (of a sample: over n - 1). `over` says what the numbers are of: cells (all, or those of the `language` or the `country`),
-- languages (the means of each), or countries. The consensus of a language is that with all others; neutral prompts name no
-- country and are in none over countries but those of specificity.
--   language: of cells of one language, which; NULL: of all
--   country: of cells of one country, which; NULL: of all
--   over: what the numbers are of: 'cells', 'languages' (the mean of each) or 'countries' (likewise)
--   mean: their mean
--   variance: their variance, over n - 1; NULL of one number
--   sd: its root, the standard deviation
--   numbers: how many numbers
CREATE VIEW spreads AS
WITH cell AS MATERIALIZED (
    SELECT metric, model, condition, language, other_language, country, estimate
    FROM cell_values
    WHERE estimate IS NOT NULL
),
placed AS MATERIALIZED (
    SELECT
        metric, model, condition,
        unnest(CASE WHEN other_language IS NULL THEN [language] ELSE [language, other_language] END) AS language, estimate
    FROM cell
),
numbers AS (
    SELECT metric, model, condition, NULL AS language, NULL AS country, 'cells' AS "over", estimate FROM cell
    UNION ALL
    SELECT metric, model, condition, language, NULL, 'cells', estimate FROM placed
    UNION ALL
    SELECT metric, model, condition, NULL, country, 'cells', estimate FROM cell WHERE country IS NOT NULL
    UNION ALL
    SELECT metric, model, condition, NULL, NULL, 'languages', avg(estimate ORDER BY estimate)
    FROM placed
    GROUP BY metric, model, condition, language
    UNION ALL
    SELECT metric, model, condition, NULL, NULL, 'countries', avg(estimate ORDER BY estimate)
    FROM cell
    WHERE country IS NOT NULL
    GROUP BY metric, model, condition, country
)
SELECT
    metric, model, condition, language, country, "over",
    avg(estimate ORDER BY estimate) AS mean,
    var_samp(estimate ORDER BY estimate) AS variance,
    sqrt(var_samp(estimate ORDER BY estimate)) AS sd,
    count(*) AS numbers
FROM numbers
GROUP BY ALL;
