-- False negatives and false positives of sentiment by culture
-- culture_sentiments: a row is a share of the texts of one side in one language and culture, with its 95 % interval:
-- wrongly labelled negative (of those that are not), wrongly labelled positive, or positive and labelled otherwise
-- (the papers' false negative). Over all types; a setting of several, 'grounded + neutral', is over these together.
--   side: the names that the texts have, native or western
-- printed: model, dataset, language, culture, setting, metric, side, estimate, answers
SELECT
    model, answer_method, dataset, language, culture, setting, pooled, metric, unnest(['native', 'western']) AS side,
    unnest([native, western]) AS estimate, unnest([native_low, western_low]) AS low,
    unnest([native_high, western_high]) AS high, unnest([native_answers, western_answers]) AS answers
FROM swap_rates
WHERE task = 'sentiment' AND metric IN ('false_negative_rate', 'false_positive_rate', 'missed_positive_rate')
    AND culture IS NOT NULL AND entity_type IS NULL
ORDER BY dataset, metric DESC, setting, model, answer_method, language, culture, side
