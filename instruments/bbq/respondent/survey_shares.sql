-- A row is an answer to a stereotype of the survey, with the share of the people and of a model's answers that gave it.
SELECT model, language, category, stereotype, "group", is_none, people, share, answers
FROM bbq_survey_shares
WHERE share IS NOT NULL
ORDER BY model, language, category, stereotype, place
