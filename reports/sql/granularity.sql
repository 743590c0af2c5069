-- Granularity by model and language
-- granularity: a row is a model in a language; the mean over topics, conditions and countries, with its 95 %
-- intervals: of other samples of the prompts, and of other wordings.
-- printed: model, language, estimate, responses, incidences
SELECT model, language, estimate, low, high, no_interval,
    wordings_low, wordings_high, no_wordings_interval, cells, missing, responses, incidences
FROM aggregates
WHERE metric = 'granularity' AND level = 'model, language'
ORDER BY model, language;
