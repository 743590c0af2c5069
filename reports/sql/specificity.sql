-- specificity: a row is a country, for a model in a language: what it is under neutral prompts ('specificity'), and what
-- naming the country, or a person with a name from there, adds ('specificity_gain'); means over topics.
SELECT metric, model, language, condition, country, estimate, low, high, cells, missing, responses, mentions
FROM aggregates
WHERE level = 'model, language, condition, country'
    AND ((metric = 'specificity' AND condition = 'neutral') OR metric = 'specificity_gain')
ORDER BY metric, model, language, condition, country;
