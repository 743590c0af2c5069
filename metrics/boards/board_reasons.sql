-- Why the differences of a metric could not be tested: the commonest reason of each metric, of questions and items of each data
-- set, and of each way in which they were asked.
SELECT
    if(measure = 'entities', metric, concat(metric, ' (', concat_ws(
        ', ', dataset, nullif(nullif(language, 'und'), '-'), if(method = 'scored', NULL, concat_ws(', ', method, reader)), facets['type']
    ), ')')) AS shown,
    mode(reason)
FROM differences LEFT JOIN declared_metrics AS d ON measure = 'entities' AND metric = d.name
WHERE
    reason IS NOT NULL AND selection = 'all' AND dimension = 'model' AND facets['level'] IS NULL
    AND ((measure = 'entities' AND target = 'same_prompts') OR (measure = 'questions' AND target = 'new_prompts' AND condition = '*'))
GROUP BY shown, d.place ORDER BY d.place, shown
