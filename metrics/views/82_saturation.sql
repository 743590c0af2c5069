-- saturation: a row is a cell and a number of its responses: how many distinct items so many of them name, on average
-- over all ways to draw them (sample-based rarefaction), and what share of all mentions falls on these items (coverage).
-- A curve that still rises at its last point, which is the cell itself, says that more responses would name more items.
--   responses: as many as are drawn from the cell's; the last point is all of them
--   entities: distinct items expected in them
--   coverage: share of all mentions that the model would make that fall on items of so many responses, 0 to 1
CREATE VIEW saturation AS
WITH points AS (
    SELECT d.cell, d.responses AS size, d.incidences, o.coverage, unnest(saturation_sizes(d.responses)) AS drawn
    FROM cell_sizes AS d
    LEFT JOIN (SELECT cell, estimate AS coverage FROM cell_numbers WHERE metric = 'coverage') AS o USING (cell)
    WHERE d.known
),
found AS (
    SELECT
        p.cell, p.drawn,
        coalesce(sum(i.items * expected_in(p.drawn, p.size, i.seen) ORDER BY i.seen), 0) AS entities,
        CASE
            WHEN p.drawn = p.size THEN p.coverage
            WHEN p.incidences > 0 THEN
                greatest(0, 1 - sum(i.items * uncovered_in(p.drawn, p.size, i.seen) ORDER BY i.seen) / p.incidences)
        END AS coverage
    FROM points AS p
    LEFT JOIN incidence_counts AS i USING (cell)
    GROUP BY p.cell, p.size, p.drawn, p.coverage, p.incidences
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording, f.drawn AS responses, f.entities, f.coverage
FROM found AS f
INNER JOIN numbered_cells AS c USING (cell);
