-- Granularity by model and language
-- granularity: a row is a model in a language; the mean over topics, conditions and countries, with its 95 %
-- intervals: of other samples of the prompts, and of other wordings.
-- printed: model, language, estimate, responses, incidences
SELECT model, language, estimate, low, high, no_interval,
    wide_low AS wordings_low, wide_high AS wordings_high, no_wide AS no_wordings_interval,
    cells, missing, units AS responses, n AS incidences
FROM numbers
WHERE metric = 'granularity' AND level = 'model, language'
ORDER BY model, language;
