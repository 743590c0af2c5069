-- Granularity by model and language
-- granularity: a row is a model in a language; the mean over topics, conditions and countries, with its 95 %
-- intervals: of other samples of the prompts, and of new prompts like these.
-- printed: model, language, estimate, responses, incidences
SELECT model, language, estimate, low, high, no_interval,
    wide_low, wide_high, no_wide,
    cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE metric = 'granularity' AND level = 'model, language'
ORDER BY model, language;
