-- Culture specificity by country, and what naming the country or a person adds
-- specificity: a row is a country, for a model in a language: what share belongs to it under neutral prompts, or
-- where the country, or a person with a name from there, is named ('specificity'), and what that adds
-- ('specificity_gain'); means over topics.
-- printed: metric, model, language, condition, country, estimate, incidences
SELECT metric, model, language, condition, country, estimate, low, high, no_interval, no_estimate, cells, missing,
    units AS responses, n AS incidences
FROM numbers
WHERE level = 'model, language, condition, country' AND metric IN ('specificity', 'specificity_gain')
ORDER BY metric, model, language, condition, country;
