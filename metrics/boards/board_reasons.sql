-- Why the differences of a metric could not be tested: the commonest reason of each metric, of items of each data set.
SELECT if(measure = 'entities', metric, concat(metric, ' (', concat_ws(', ', dataset, nullif(language, 'und')), ')')) AS shown, mode(reason)
FROM differences LEFT JOIN declared_metrics AS d ON measure = 'entities' AND metric = d.name
WHERE
    reason IS NOT NULL AND selection = 'all' AND dimension = 'model'
    AND ((measure = 'entities' AND target = 'same_prompts') OR (measure = 'questions' AND condition = '*'))
GROUP BY shown, d.place ORDER BY d.place, shown
