-- Rates of answers about texts with native and Western entities
-- swaps: a row is a rate of the answers about swapped entities: both sides and their difference. NULL in language,
-- culture or entity_type: over all of them. A setting of several, 'grounded + neutral', is over these together; all
-- rates, of types too, stand in the view swap_rates.
-- printed: task, model, dataset, language, culture, entity_type, setting, metric, reading, native, western, difference, p,
-- contexts
SELECT * EXCLUDE (pooled, is_of_several, wording, native_answers, western_answers)
FROM swap_rates
WHERE reading IS DISTINCT FROM 'readable' AND CASE WHEN pooled THEN entity_type IS NULL ELSE is_of_several END
ORDER BY
    task DESC, model, dataset, answer_method, language NULLS FIRST, culture NULLS FIRST, entity_type NULLS FIRST, setting,
    reading NULLS FIRST, metric
