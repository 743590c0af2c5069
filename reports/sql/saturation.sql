-- Distinct items of a cell in so many of its responses
-- saturation: a row is a model, a topic and a number of responses: how many distinct items so many responses of a
-- cell name, and what share of all mentions falls on these (coverage). Means over all cells: at round numbers that
-- every cell has, and at the cells' own ends (`responses` is then the mean of theirs: some lost a few).
-- printed: model, topic, responses, entities, coverage
WITH points AS (
    SELECT
        *, responses = max(responses) OVER (PARTITION BY model, language, topic, condition, country, wording) AS is_end
    FROM saturation
),
steps AS (
    SELECT
        model, topic, responses,
        avg(entities ORDER BY entities) AS entities, avg(coverage ORDER BY coverage) AS coverage, count(*) AS cells
    FROM points
    GROUP BY ALL
),
ends AS (
    SELECT
        model, topic, round(avg(responses))::BIGINT AS responses,
        avg(entities ORDER BY entities) AS entities, avg(coverage ORDER BY coverage) AS coverage, count(*) AS cells
    FROM points
    WHERE is_end
    GROUP BY ALL
),
curves AS (
    SELECT steps.*
    FROM steps
    INNER JOIN ends USING (model, topic)
    WHERE steps.cells = ends.cells AND steps.responses < ends.responses
    UNION ALL
    FROM ends
)
SELECT model, topic, responses, entities, coverage, cells
FROM curves
ORDER BY model, topic, responses;
