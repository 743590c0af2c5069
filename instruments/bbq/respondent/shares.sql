-- A row is an answer to a stereotype, with the share of the people and of a model's answers that gave it.
SELECT model, language, category, stereotype, "group", round(people, 4) AS people, round(share, 4) AS model_share, answers
FROM bbq_survey_shares
WHERE list_contains($models, model) AND list_contains($languages, language)
ORDER BY model, language, category, stereotype, place
