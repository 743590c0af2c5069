-- A row is a number of attention to options (CultureScope), keyed as the cells of `published`.
--   variant: how the weights were read, where not as the paper's
WITH unattended AS (
    SELECT w.model, q.set AS dataset, q.language, count(*) FILTER (a.question_id IS NULL) AS missing, count(*) AS wanted
    FROM wanted_answers AS w
    INNER JOIN questions AS q USING (question_id)
    LEFT JOIN (
        SELECT DISTINCT model, question_id, prompt FROM answers WHERE method = 'attention' AND status = 'ok'
    ) AS a USING (model, question_id, prompt)
    WHERE w.use = 'attend'
    GROUP BY ALL
)
SELECT
    n.model, coalesce(nullif(n.reader, 'ours'), '') AS variant, n.measure, n.metric, n.dataset, n.language,
    n.country AS culture, n.topic, n.condition,
    map_from_entries(list_filter(map_entries(n.facets), lambda one: one.key <> 'test')) AS facets, n.estimate, n.low, n.high,
    n.no_interval, n.n, 'option' AS unit,
    CASE WHEN u.missing > 0 THEN u.missing || ' of ' || u.wanted || ' questions without attention' ELSE '' END AS lacking
FROM numbers AS n
LEFT JOIN unattended AS u USING (model, dataset, language)
WHERE n.measure = 'attention' AND n.metric IN ('contribution', 'contribution_p') AND n.estimate IS NOT NULL
UNION ALL BY NAME
-- What was stopped has no number of the present data: why there is none.
SELECT model, 'attention' AS measure, dataset, missing || ' of ' || wanted || ' questions without attention' AS lacking
FROM unattended
ANTI JOIN (FROM numbers WHERE measure = 'attention') USING (model, dataset)
WHERE missing > 0
