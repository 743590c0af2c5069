-- Shares of every answer to every stereotype
-- survey_shares: a row is an answer to a stereotype of the survey, with the share of the people and of a model's
-- answers that gave it.
-- printed: model, language, category, stereotype, group, people, share, answers
SELECT model, language, category, stereotype, "group", is_none, people, share, answers
FROM bbq_survey_shares
WHERE share IS NOT NULL
ORDER BY model, language, category, stereotype, place
