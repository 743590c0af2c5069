-- A model's shares of the survey's answers beside the people's
-- survey_results: a row is all stereotypes of the survey, or those of a category, as a model answers it in a
-- language: its shares of answers held against the people's, with 95 % intervals over stereotypes.
-- printed: model, language, category, stereotypes, answered, out_of_choice_ratio, correlation, distance, none_people,
-- none_share, failed
SELECT
    model, language, name AS category, stereotypes, answered, failed, out_of_choice_ratio, correlation, correlation_low,
    correlation_high, distance, distance_low, distance_high, none_people, none_share, none_difference,
    none_difference_low, none_difference_high
FROM bbq_survey_results
ORDER BY model, language, name NULLS FIRST
