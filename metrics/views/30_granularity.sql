-- granularity_contributions: a row is a response of a cell that names a linked item: the sum of its items' labels
-- (`numerator`) and how many they are. Where an item has surfaces with different labels in a response, the mean of these is its
-- label there.
CREATE VIEW granularity_contributions AS
SELECT cell, response, sum(mean_label(specific, mentions)) AS numerator, count(*) AS denominator
FROM named_items
GROUP BY ALL;

-- granularity: a row is a cell; the mean label of its linked items, each counted once per response that mentions it, as in
-- `numbers`. NULL when there is no linked item.
--   specific: sum of the labels over `incidences`
--   granularity: mean label of linked items, each once per response that mentions it, 0 (general) to 1 (specific);
--     NULL when there is none
CREATE VIEW granularity AS
SELECT
    n.model, n.language, n.topic, n.condition, n.country, n.wording, n.estimate AS granularity, n.responses, n.incidences,
    coalesce(s.specific, 0)::DOUBLE AS specific
FROM cell_numbers AS n
LEFT JOIN (SELECT cell, sum(numerator) AS specific FROM granularity_contributions GROUP BY cell) AS s USING (cell)
WHERE n.metric = 'granularity';
