-- standing: a row is a model; what came of what it was asked, up to now. The numbers are those of `health`, added
-- up by model at once: cell by cell a large run has most of its surfaces again and again.
WITH cells_of AS (
    SELECT model, sum(asked) AS asked FROM cells GROUP BY model
),
answers AS (
    SELECT model, count(*) FILTER (status = 'ok') AS answered, count(*) FILTER (status <> 'ok') AS failed
    FROM responses
    GROUP BY model
),
readings AS (
    SELECT model, count(*) FILTER (status = 'ok') AS extracted FROM extractions GROUP BY model
),
surfaces AS MATERIALIZED (
    SELECT model, query, count(*) AS mentions
    FROM mentions
    WHERE counted AND NOT hallucinated
    GROUP BY ALL
),
found AS (
    SELECT model, sum(mentions) AS mentions FROM surfaces GROUP BY model
),
known AS (
    SELECT s.model, sum(s.mentions) AS linked
    FROM surfaces AS s
    INNER JOIN links AS l USING (query)
    WHERE l.status = 'linked'
    GROUP BY s.model
)
SELECT model, coalesce(COLUMNS(['asked', 'answered', 'failed', 'extracted', 'mentions', 'linked']), 0)::BIGINT
FROM cells_of
LEFT JOIN answers USING (model)
LEFT JOIN readings USING (model)
LEFT JOIN found USING (model)
LEFT JOIN known USING (model)
ORDER BY model;
