-- A metric by topic and country, means over models
-- by_topic: a row is a country that prompts name, for a topic in a language: the mean over the models that have a
-- number there (`models`).
--   $metric = granularity|diversity|specificity: granularity, diversity or specificity
SELECT
    metric, topic, language, country, avg(estimate ORDER BY estimate) AS estimate, count(*) AS models,
    sum(n)::BIGINT AS incidences
FROM numbers
WHERE metric = $metric AND level = 'model, language, topic, condition, country' AND condition = 'explicit'
    AND estimate IS NOT NULL
GROUP BY ALL
ORDER BY metric, topic, language, country;
