-- The table that `polyculture bbq-survey` prints: a row is all stereotypes, or those of a category, as a model answers the
-- survey in a language: its shares of answers beside the people's, with 95 % intervals over stereotypes.
SELECT
    model, language, coalesce(name, 'all') AS category, stereotypes, answered AS answers,
    round(out_of_choice_ratio, 3) AS "out of choice", round(correlation, 3) AS correlation,
    CASE WHEN correlation_low IS NOT NULL THEN format('{:.2f} to {:.2f}', correlation_low, correlation_high) END AS "95 %",
    round(distance, 3) AS distance,
    CASE WHEN distance_low IS NOT NULL THEN format('{:.2f} to {:.2f}', distance_low, distance_high) END AS "95 % ",
    round(none_people, 3) AS "none: people", round(none_share, 3) AS "none: model", failed
FROM bbq_survey_results
WHERE list_contains($models, model) AND list_contains($languages, language)
ORDER BY model, language, name NULLS FIRST
