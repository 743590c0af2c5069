-- How many items each model was to answer, and has a score of; `missing` is the share of items without a score, by the metric
-- and in the data set with the largest one. What one model of the run has a score of, all were to answer.
WITH scores AS (
    SELECT a.model, a.topic AS dataset, a.language, a.question_id, r.reader AS metric, r.matched
    FROM answers AS a LEFT JOIN answer_readings AS r USING (answer_id)
    WHERE a.method = 'scored'
),
items AS (SELECT dataset, language, count(DISTINCT question_id) AS items FROM scores GROUP BY ALL),
metrics AS (SELECT DISTINCT dataset, language, metric FROM scores WHERE matched IS NOT NULL),
of_models AS (SELECT model, dataset, language, metric, count(matched) AS scored FROM scores GROUP BY ALL),
of_items AS (
    SELECT model, count(DISTINCT (dataset, language, question_id)) FILTER (matched IS NOT NULL) AS answered FROM scores GROUP BY ALL
)
SELECT
    model, (SELECT sum(items)::BIGINT FROM items) AS asked, any_value(answered) AS answered,
    coalesce(max(1 - coalesce(scored, 0) / items), 1) AS missing
FROM of_items
CROSS JOIN items
LEFT JOIN metrics AS m USING (dataset, language)
LEFT JOIN of_models AS s USING (model, dataset, language, metric)
GROUP BY model ORDER BY model
