-- A row is a model and language: the four metrics over its cells, each with its 95 % interval of other samples of these
-- prompts and, where there are three wordings or more, of other wordings and names. Specificity and its gain are those of
-- prompts that name the country.
WITH shown AS (
    SELECT
        model, language, metric, units AS responses,
        CASE
            WHEN estimate IS NULL THEN NULL
            WHEN no_interval IS NOT NULL THEN printf('%.2f [%s]', estimate, no_interval)
            ELSE printf('%.2f [%.2f, %.2f]', estimate, low, high)
        END
        || CASE WHEN wide_low IS NULL THEN '' ELSE printf(' / [%.2f, %.2f]', wide_low, wide_high) END AS shown
    FROM numbers
    WHERE (level = 'model, language' AND metric IN ('granularity', 'diversity', 'consensus'))
       OR (level = 'model, language, condition' AND condition = 'explicit' AND metric IN ('specificity', 'specificity_gain'))
)
SELECT
    model,
    language,
    max(responses) AS responses,
    any_value(shown) FILTER (metric = 'granularity') AS granularity,
    any_value(shown) FILTER (metric = 'diversity') AS diversity,
    any_value(shown) FILTER (metric = 'specificity') AS "culture specificity",
    any_value(shown) FILTER (metric = 'specificity_gain') AS "gain",
    any_value(shown) FILTER (metric = 'consensus') AS "consensus with the others"
FROM shown
GROUP BY model, language
ORDER BY model, language
