-- The models' numbers, over all languages and in each; where models lack different cells, over those that all have.
SELECT
    metric, if(condition = '*', 'all prompts', condition) AS setting, model, nullif(language, '*') AS language,
    estimate, low, high, wide_low, wide_high, no_estimate, level LIKE '%, shared' AS shared
FROM numbers
WHERE measure = 'entities' AND regexp_full_match(level, 'model(, language)?(, condition)?(, shared)?')
QUALIFY shared = bool_or(shared) OVER (PARTITION BY metric, condition, model, language)
