-- A row: a number of the candidate's model, `a`, and of the baseline's, `b`, for the same prompts; `model` is the
-- candidate's. Numbers of a cell whose prompts are not the same in both runs are left out (`other_prompts`), also where such
-- a cell is the other language of a consensus, or has the neutral answers of a gain. `shared`: it rests on neutral answers,
-- which stand behind all countries of a specificity or gain.
WITH told AS (
    SELECT
        c.metric, c.model, c.language, c.other_language, c.topic, c.condition, c.country, c.wording,
        c.metric = 'specificity_gain' OR c.metric = 'specificity' AND c.condition = 'neutral' AS shared,
        c.estimate AS a, b.estimate AS b
    FROM candidate_values AS c
    INNER JOIN compared_models AS m ON c.model = m.candidate
    INNER JOIN baseline_values AS b
        ON b.model = m.baseline AND c.metric = b.metric AND c.language = b.language
        AND c.other_language IS NOT DISTINCT FROM b.other_language AND c.topic = b.topic AND c.condition = b.condition
        AND c.country IS NOT DISTINCT FROM b.country AND c.wording = b.wording
)
SELECT *
FROM told AS t
WHERE NOT EXISTS (
    SELECT 1
    FROM other_prompts AS o
    WHERE o.topic = t.topic AND o.wording = t.wording AND o.language IN (t.language, t.other_language)
        AND (
            o.condition = t.condition AND (o.country IS NOT DISTINCT FROM t.country OR o.condition = 'neutral')
            OR o.condition = 'neutral' AND t.metric = 'specificity_gain'
        )
)
ORDER BY ALL
