-- trend: a row is a metric of a model, with its interval of other samples; specificity and gain are of explicit prompts.
SELECT metric, model, estimate, low, high
FROM numbers
WHERE metric IN ('granularity', 'diversity', 'specificity', 'specificity_gain', 'consensus')
    AND (
        level = 'model' AND metric NOT IN ('specificity', 'specificity_gain')
        OR level = 'model, condition' AND condition = 'explicit' AND metric IN ('specificity', 'specificity_gain')
    )
ORDER BY metric, model;
