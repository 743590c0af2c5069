-- A row: a number of a country in its own language (`a`; the mean, where it has several) and the mean of the same
-- number in the other languages (`b`), for the same model, topic and condition. Consensus, which is of two languages,
-- is left out. `block` names what shares responses.
WITH told AS (
    SELECT v.metric, v.model, v.topic, v.condition, v.country, n.language IS NOT NULL AS native, v.estimate
    FROM cell_values AS v
    LEFT JOIN native_languages AS n ON v.language = n.language AND v.country = n.country
    WHERE v.metric <> 'consensus' AND v.country IS NOT NULL
),
sides AS (
    SELECT
        metric, model, topic, condition, country,
        avg(estimate ORDER BY estimate) FILTER (native) AS a,
        avg(estimate ORDER BY estimate) FILTER (NOT native) AS b,
        bool_or(native) AND bool_or(NOT native) AS both_asked
    FROM told
    GROUP BY ALL
)
SELECT
    metric, model, topic, condition, country,
    CASE
        WHEN metric = 'specificity_gain' THEN [model, topic]
        WHEN metric = 'specificity' AND condition = 'neutral' THEN [model, topic, condition]
        ELSE [model, topic, condition, country]
    END::VARCHAR AS block,
    a, b
FROM sides
WHERE both_asked
ORDER BY ALL
