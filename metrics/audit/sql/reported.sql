-- A row: a mean of a model and language as it is reported, with its interval.
SELECT metric, model, language, estimate, low, high
FROM numbers
WHERE estimate IS NOT NULL AND (
    (level = 'model, language' AND metric IN ('granularity', 'diversity'))
    OR (level = 'model, language, condition' AND metric = 'specificity' AND condition = 'explicit')
)
ORDER BY ALL
