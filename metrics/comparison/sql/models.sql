-- A row: a number of two models, `a` and `b`, for the same prompts. `shared`: it rests on neutral answers, which stand
-- behind all countries of a specificity or gain.
SELECT
    a.metric, a.language, a.other_language, a.topic, a.condition, a.country,
    a.metric = 'specificity_gain' OR a.metric = 'specificity' AND a.condition = 'neutral' AS shared,
    a.estimate AS a, b.estimate AS b
FROM cell_values AS a
INNER JOIN cell_values AS b
    ON a.metric = b.metric AND a.language = b.language AND a.other_language IS NOT DISTINCT FROM b.other_language
    AND a.topic = b.topic AND a.condition = b.condition AND a.country IS NOT DISTINCT FROM b.country
WHERE a.model = $a AND b.model = $b
ORDER BY ALL
