-- A row is a number of wrong sentiments in one language and culture, by the reading `counted`: the mean over draws of each
-- side, of their difference and of its size, with what no effect gives for that. Settings together where the paper pools them and there are several.
SELECT
    model, answer_method, language, culture, setting, counted, native, western, difference, absolute_difference, chance,
    native_texts, western_texts
FROM sentiment_count_differences
WHERE dataset = $dataset AND entity_type IS NULL
QUALIFY pooled = ($pooled AND bool_or(pooled) OVER (PARTITION BY model, answer_method, language, culture))
ORDER BY model, answer_method, language, culture, setting, counted
