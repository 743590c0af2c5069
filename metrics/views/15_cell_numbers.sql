-- cell_numbers: a row is a metric's number of a cell, or of two cells, as `measure` computed it last; no rows while the data have
-- changed since. The views of metrics show these numbers, beside what they rest on.
--   cell: the cell under its number; of a number of two languages that of the first one
--   other_language: of a number of two languages the second one; else NULL
--   country: the country that the number is about; NULL where it is none
CREATE VIEW cell_numbers AS
SELECT
    n.metric, c.cell, n.model, n.language, n.facets['other_language'] AS other_language, n.topic, n.condition,
    nullif(n.country, 'none') AS country, n.wording, n.estimate, n.units AS responses, n.n AS incidences
FROM numbers AS n
INNER JOIN numbered_cells AS c
    ON n.model = c.model AND n.language = c.language AND n.topic = c.topic AND n.condition = c.condition
    -- Neutral prompts name no country, whatever country their number is about.
    AND if(n.condition = 'neutral', 'none', n.country) = coalesce(c.country, 'none') AND n.wording = c.wording
WHERE n.measure = 'entities' AND n.level = 'cell';
