-- A row: a value of one prompt and model, with its sampling variance.
SELECT model, language, topic, country, wording, name, prompt_id, estimate, variance
FROM prompt_values
WHERE metric = $metric AND condition = $condition
ORDER BY model, prompt_id;
