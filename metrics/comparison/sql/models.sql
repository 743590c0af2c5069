-- A row: a number of two models, `a` and `b`, for the same prompts. `block` names what shares responses: the neutral
-- responses stand behind all countries of a specificity or gain, and those of a language behind all its pairs.
SELECT
    a.metric, a.language, a.other_language, a.topic, a.condition, a.country,
    CASE a.metric
        WHEN 'consensus' THEN [a.topic, a.condition, a.country]
        WHEN 'specificity_gain' THEN [a.language, a.topic]
        WHEN 'specificity' THEN [a.language, a.topic, a.condition, CASE WHEN a.condition <> 'neutral' THEN a.country END]
        ELSE [a.language, a.topic, a.condition, a.country]
    END::VARCHAR AS block,
    a.estimate AS a, b.estimate AS b
FROM cell_values AS a
INNER JOIN cell_values AS b
    ON a.metric = b.metric AND a.language = b.language AND a.other_language IS NOT DISTINCT FROM b.other_language
    AND a.topic = b.topic AND a.condition = b.condition AND a.country IS NOT DISTINCT FROM b.country
WHERE a.model = $a AND b.model = $b
ORDER BY ALL
