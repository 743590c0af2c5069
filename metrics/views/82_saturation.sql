-- saturation: a row is a cell and a number of its responses: how many distinct items so many of them name, on average
-- over all ways to draw them (sample-based rarefaction), and what share of all mentions falls on these items (coverage).
-- A curve that still rises at its last point, which is the cell itself, says that more responses would name more items.
-- `low` and `high` are the 95 % interval (NULL where it was not measured since the cell changed).
CREATE VIEW saturation AS
WITH known AS (
    SELECT c.cell, d.model, d.language, d.topic, d.condition, d.country, d.wording, d.responses AS size,
        d.incidences, d.coverage
    FROM diversity_companions AS d
    INNER JOIN numbered_cells AS c
        ON d.model = c.model AND d.language = c.language AND d.topic = c.topic AND d.condition = c.condition
        AND d.country IS NOT DISTINCT FROM c.country AND d.wording = c.wording
),
points AS (
    SELECT cell, unnest(saturation_sizes(size)) AS responses FROM known
),
found AS (
    SELECT
        p.cell, p.responses,
        coalesce(sum(i.items * expected_in(p.responses, k.size, i.seen) ORDER BY i.seen), 0) AS entities,
        CASE
            WHEN p.responses = k.size THEN any_value(k.coverage)
            WHEN any_value(k.incidences) > 0 THEN
                greatest(
                    0,
                    1 - sum(i.items * uncovered_in(p.responses, k.size, i.seen) ORDER BY i.seen)
                    / any_value(k.incidences)
                )
        END AS coverage
    FROM points AS p
    INNER JOIN known AS k USING (cell)
    LEFT JOIN incidence_counts AS i USING (cell)
    GROUP BY p.cell, p.responses, k.size
),
measured AS (
    SELECT
        *,
        max(responses) OVER (PARTITION BY model, language, topic, condition, country, wording) AS size
    FROM stored_saturation_intervals
)
SELECT k.model, k.language, k.topic, k.condition, k.country, k.wording, f.responses, f.entities, f.coverage, s.low, s.high
FROM found AS f
INNER JOIN known AS k USING (cell)
LEFT JOIN measured AS s
    ON k.model = s.model AND k.language = s.language AND k.topic = s.topic AND k.condition = s.condition
    AND k.country IS NOT DISTINCT FROM s.country AND k.wording = s.wording AND f.responses = s.responses AND k.size = s.size
    AND abs(f.entities - s.entities) < 1e-6;
