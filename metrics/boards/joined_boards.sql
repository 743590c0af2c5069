-- The entries of a joined run's boards, each with the models that are told to be worse; the best first, or the highest, or the
-- one nearest to zero. What was asked has the method and the reader of answers as its setting; imported scores have none.
SELECT
    e.metric, if(e.task = 'texts', '', concat_ws(', ', e.dataset, nullif(e.language, 'und'))) AS dataset,
    if(
        e.task = 'texts', e.setting,
        concat_ws(', ', if(e.way = 'scored', NULL, e.variant), nullif(regexp_replace(e.setting, '^all questions(, )?', ''), ''))
    ) AS setting,
    CASE WHEN e.task = 'texts' THEN e.variant WHEN e.way = 'scored' THEN 'new items' ELSE 'new questions' END AS variant, e.goal,
    e.model, e.estimate, e.low, e.high, e.contexts, e.doubt, coalesce(o.worse, []) AS worse
FROM numbered_entries AS e
LEFT JOIN declared_metrics AS d ON e.task = 'texts' AND e.metric = d.name
LEFT JOIN (SELECT board, better, list(worse) AS worse FROM told_orders GROUP BY ALL) AS o ON e.board = o.board AND e.model = o.better
WHERE e.task IN ('texts', 'questions')
ORDER BY
    d.place, e.dataset, e.language, e.metric, e.setting, e.variant,
    CASE e.goal WHEN 'low' THEN e.estimate WHEN 'zero' THEN abs(e.estimate) ELSE -e.estimate END, e.model
