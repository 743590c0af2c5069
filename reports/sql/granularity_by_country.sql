-- Granularity by model, language and country
-- granularity_by_country: a row is a country that prompts name, for a model in a language; the mean over topics.
-- printed: model, language, country, estimate, responses, incidences
SELECT model, language, country, estimate, low, high, no_interval,
    wide_low, wide_high, no_wide,
    cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE metric = 'granularity' AND level = 'model, language, condition, country' AND condition = 'explicit'
ORDER BY model, language, country;
