-- values: a row is a metric of a cell of one model, as the views define it: the estimate, or NULL.
SELECT
    metric, model, language, coalesce(other_language, '-') AS other_language, topic, condition,
    coalesce(country, 'none') AS country, wording, estimate, responses, incidences
FROM measured_values
WHERE model = $model
ORDER BY ALL
