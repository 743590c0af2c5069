-- A row: a mean of a model and language that judgements correct, as it is reported, with its interval or the reason why it
-- has none; of a metric per country that of prompts that name the country.
SELECT n.metric, n.model, n.language, n.estimate, n.low, n.high, n.no_interval
FROM numbers AS n
INNER JOIN declared_metrics AS d ON n.metric = d.name
WHERE d.judged <> '' AND n.estimate IS NOT NULL AND CASE
    WHEN d.per_country THEN n.level = 'model, language, condition' AND n.condition = 'explicit'
    ELSE n.level = 'model, language'
END
ORDER BY ALL
