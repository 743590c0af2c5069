-- False negatives and false positives of sentiment by culture
-- culture_sentiments: a row is a share of the texts of one side in one language and culture, with its 95 % interval:
-- wrongly labelled negative (of those that are not), wrongly labelled positive, or positive and labelled otherwise
-- (the papers' false negative). Over all types; a setting of several, 'grounded + neutral', is over these together.
-- printed: model, dataset, language, culture, setting, metric, side, estimate, answers
SELECT
    model, answer_method, dataset, language, culture, setting, coalesce(pooled, false) AS pooled, metric, side, estimate, low,
    high, answers
FROM swap_intervals
WHERE task = 'sentiment' AND metric IN ('false_negative_rate', 'false_positive_rate', 'missed_positive_rate')
    AND side <> 'difference' AND culture IS NOT NULL AND entity_type IS NULL
ORDER BY dataset, metric DESC, setting, model, answer_method, language, culture, side
