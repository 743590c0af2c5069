-- A row: a number of two languages, `a` and `b`, for the same model, topic, condition and country. Of consensus: that
-- of each of the two with a third language. `shared`: it rests on neutral answers, which stand behind all countries of
-- a specificity or gain. `lowest` and `highest` bound the difference, were all mentions linked (`cell_bounds`).
WITH sides AS (
    SELECT * FROM cell_bounds
    UNION ALL BY NAME
    SELECT * REPLACE (other_language AS language, language AS other_language)
    FROM cell_bounds
    WHERE metric = 'consensus'
)
SELECT
    a.metric, a.model, a.other_language, a.topic, a.condition, a.country,
    a.metric = 'specificity_gain' OR a.metric = 'specificity' AND a.condition = 'neutral' AS shared,
    a.estimate AS a, b.estimate AS b, a.lowest - b.highest AS lowest, a.highest - b.lowest AS highest
FROM sides AS a
INNER JOIN sides AS b
    ON a.metric = b.metric AND a.model = b.model AND a.other_language IS NOT DISTINCT FROM b.other_language
    AND a.topic = b.topic AND a.condition = b.condition AND a.country IS NOT DISTINCT FROM b.country
WHERE a.language = $a AND b.language = $b
ORDER BY ALL
