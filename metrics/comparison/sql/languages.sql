-- A row: a number of two languages, `a` and `b`, for the same model, topic, condition and country. Of consensus: that
-- of each of the two with a third language. `block` names what shares responses.
WITH sides AS (
    SELECT * FROM cell_values
    UNION ALL BY NAME
    SELECT * REPLACE (other_language AS language, language AS other_language)
    FROM cell_values
    WHERE metric = 'consensus'
)
SELECT
    a.metric, a.model, a.other_language, a.topic, a.condition, a.country,
    CASE a.metric
        WHEN 'specificity_gain' THEN [a.model, a.topic]
        WHEN 'specificity' THEN [a.model, a.topic, a.condition, CASE WHEN a.condition <> 'neutral' THEN a.country END]
        ELSE [a.model, a.topic, a.condition, a.country]
    END::VARCHAR AS block,
    a.estimate AS a, b.estimate AS b
FROM sides AS a
INNER JOIN sides AS b
    ON a.metric = b.metric AND a.model = b.model AND a.other_language IS NOT DISTINCT FROM b.other_language
    AND a.topic = b.topic AND a.condition = b.condition AND a.country IS NOT DISTINCT FROM b.country
WHERE a.language = $a AND b.language = $b
ORDER BY ALL
