-- granularity: a row is a cell; the mean of the 0/1 labels of its counted mentions, hallucinated ones left out, with
-- the responses (read whole by the extractor) and the mentions that it rests on. NULL when there is no mention.
CREATE VIEW granularity AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country,
    m.specific / nullif(m.labelled, 0) AS granularity,
    coalesce(e.extracted, 0) AS responses,
    coalesce(m.labelled, 0) AS mentions,
    coalesce(m.specific, 0) AS specific
FROM numbered_cells AS c
LEFT JOIN cell_mentions AS m USING (cell)
LEFT JOIN cell_extractions AS e USING (cell);
