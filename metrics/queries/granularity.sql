-- A row: so many responses of a cell have so many counted mentions, so many of them specific.
WITH per_response AS (
    SELECT
        p.cell, m.prompt_id, m.sample,
        count(*) FILTER (m.granularity = 1) AS numerator,
        count(m.granularity) AS denominator
    FROM mentions AS m
    INNER JOIN numbered_prompts AS p USING (model, prompt_id)
    WHERE m.model = $model AND m.counted AND NOT m.hallucinated
    GROUP BY ALL
)
SELECT cell, numerator, denominator, count(*) AS responses
FROM per_response
WHERE denominator > 0
GROUP BY ALL
ORDER BY ALL;
