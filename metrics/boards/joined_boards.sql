-- The entries of a joined run's boards, each with the models that are told to be worse; the best first, or the highest.
SELECT
    e.metric, if(e.task = 'texts', '', concat_ws(', ', e.dataset, nullif(e.language, 'und'))) AS dataset,
    if(e.setting = 'all questions', '', e.setting) AS setting, if(e.task = 'texts', e.variant, 'new items') AS variant, e.goal,
    e.model, e.estimate, e.low, e.high, e.contexts, e.doubt, coalesce(o.worse, []) AS worse
FROM board_entries AS e
LEFT JOIN declared_metrics AS d ON e.task = 'texts' AND e.metric = d.name
LEFT JOIN (SELECT * EXCLUDE (worse), list(worse) AS worse FROM board_orders GROUP BY ALL) AS o
    ON e.task = o.task AND e.metric = o.metric AND e.dataset = o.dataset AND e.language IS NOT DISTINCT FROM o.language
    AND e.setting = o.setting AND e.variant = o.variant AND e.model = o.better
WHERE e.task IN ('texts', 'questions')
ORDER BY d.place, e.dataset, e.language, e.metric, e.setting, e.variant, if(e.goal = 'low', e.estimate, -e.estimate), e.model
