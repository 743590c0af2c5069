-- granularity: a row is a cell; the mean label of its linked items, each counted once per response that mentions it. Where
-- an item stands in a response under surfaces with different labels, the mean of these is its label there. With it stand
-- the responses (read whole by the extractor) and the incidences that it rests on. NULL when there is no linked item.
--   specific: sum of the labels over `incidences`
--   granularity: mean label of linked items, each once per response that mentions it, 0 (general) to 1 (specific);
--     NULL when there is none
CREATE VIEW granularity AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    (n.specific / n.incidences)::DOUBLE AS granularity,
    coalesce(e.extracted, 0) AS responses,
    coalesce(n.incidences, 0) AS incidences,
    coalesce(n.specific, 0)::DOUBLE AS specific
FROM numbered_cells AS c
LEFT JOIN linked_incidences AS n USING (cell)
LEFT JOIN cell_extractions AS e USING (cell);
