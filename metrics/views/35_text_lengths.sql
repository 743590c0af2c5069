-- lengths: a row is a model and a language: the length of a response that the extractor read whole, copies aside, in characters, the mean
-- over its cells. All texts are read each time it is asked.
--   characters: mean over cells of the mean number of characters of a response, blanks included
--   cells: cells with a response
--   missing: cells without one
CREATE VIEW lengths AS
WITH cell_lengths AS (
    SELECT p.cell, avg(length(r.text)) AS characters
    FROM responses AS r
    INNER JOIN asked_prompts AS p USING (request_id)
    SEMI JOIN (SELECT response_id FROM extractions WHERE status = 'ok') AS e ON r.response_id = e.response_id
    ANTI JOIN copies AS c ON r.request_id = c.request_id AND r.sample = c.sample
    GROUP BY p.cell
)
SELECT
    c.model, c.language, avg(l.characters ORDER BY l.characters) AS characters,
    count(l.characters) AS cells, count(*) - count(l.characters) AS missing
FROM numbered_cells AS c
LEFT JOIN cell_lengths AS l USING (cell)
GROUP BY c.model, c.language;
