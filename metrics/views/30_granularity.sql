-- granularity_contributions: a row is a response of a cell that names a linked item: the sum of its items' labels
-- (`numerator`) and how many they are. Where an item has surfaces with different labels in a response, the mean of these is its
-- label there.
CREATE VIEW granularity_contributions AS
SELECT cell, response, sum(mean_label(specific, mentions)) AS numerator, count(*) AS denominator
FROM named_items
GROUP BY ALL;

-- granularity: a row is a cell; the mean label of its linked items, each counted once per response that mentions it. With it stand
-- the responses (read whole by the extractor) and the incidences that it rests on. NULL when there is no linked item.
--   specific: sum of the labels over `incidences`
--   granularity: mean label of linked items, each once per response that mentions it, 0 (general) to 1 (specific);
--     NULL when there is none
CREATE VIEW granularity AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    (n.numerator / n.denominator)::DOUBLE AS granularity,
    coalesce(e.extracted, 0) AS responses,
    coalesce(i.incidences, 0) AS incidences,
    coalesce(n.numerator, 0)::DOUBLE AS specific
FROM numbered_cells AS c
LEFT JOIN (
    SELECT cell, sum(numerator) AS numerator, sum(denominator) AS denominator FROM granularity_contributions GROUP BY cell
) AS n USING (cell)
LEFT JOIN linked_incidences AS i USING (cell)
LEFT JOIN cell_extractions AS e USING (cell);
