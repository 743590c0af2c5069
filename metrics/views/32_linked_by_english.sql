-- english_contributions: a row is a response of a cell that names a linked item: the items to which the English name that the
-- extractor gives leads alone (`numerator`), of all that it names.
CREATE VIEW english_contributions AS
SELECT cell, response, count(*) FILTER (only_english) AS numerator, count(*) AS denominator
FROM named_items
GROUP BY ALL;

-- linked_by_english: a row is a cell; the share of its linked items, each counted once per response that mentions it, to which
-- the English name that the extractor gives leads alone: no name of the item in the language asked for matched. Where it
-- differs between languages, so does what the numbers owe to the extractor's English. NULL when there is no linked item.
--   linked_by_english: the share, 0 to 1; NULL when there is no linked item
CREATE VIEW linked_by_english AS
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    (n.numerator / n.denominator)::DOUBLE AS linked_by_english,
    coalesce(e.extracted, 0) AS responses,
    coalesce(n.denominator, 0)::BIGINT AS incidences
FROM numbered_cells AS c
LEFT JOIN (
    SELECT cell, sum(numerator) AS numerator, sum(denominator) AS denominator FROM english_contributions GROUP BY cell
) AS n USING (cell)
LEFT JOIN cell_extractions AS e USING (cell);
