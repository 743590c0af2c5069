-- lengths: a row is a model and a language: the length of a response that the extractor read whole, copies aside, in characters, the mean
-- over its cells. All texts are read each time it is asked.
--   characters: mean over cells of the mean number of characters of a response, blanks included
--   cells: cells with a response
--   missing: cells without one
CREATE VIEW lengths AS
WITH cell_lengths AS (
    SELECT e.cell, avg(length(r.text)) AS characters
    FROM responses AS r
    INNER JOIN asked_extractions AS e ON r.request_id = e.request_id AND r.sample = e.sample
    WHERE e.whole
    GROUP BY e.cell
)
SELECT
    c.model, c.language, avg(l.characters ORDER BY l.characters) AS characters,
    count(l.characters) AS cells, count(*) - count(l.characters) AS missing
FROM numbered_cells AS c
LEFT JOIN cell_lengths AS l USING (cell)
GROUP BY c.model, c.language;
