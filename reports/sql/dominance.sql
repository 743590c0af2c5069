-- Dominance by model and topic, and the item that dominates a cell most
-- dominance: a row is a model and a topic: the share of a cell's responses that name its most frequent item, mean
-- over languages, conditions, countries and wordings; and the cell where it is largest, with its item (`label`,
-- `qid`): `naming` of `of_responses` responses name it. `cells_of_item` of `cells` cells have the same item as their
-- most frequent one.
--   largest: the largest share of a cell, 0 to 1
--   of_responses: responses of that cell
-- printed: model, topic, estimate, label, largest, in_language, country
SELECT
    a.model, a.topic, a.metric, a.estimate, a.low, a.high, a.no_interval, a.missing, a.units AS responses,
    d.label, d.qid, d.dominance AS largest, d.naming, d.responses AS of_responses, d.in_language, d.condition, d.country,
    d.wording, d.cells_of_item, d.cells
FROM numbers AS a
LEFT JOIN dominant_items AS d ON a.model = d.model AND a.topic = d.topic AND d.language IS NULL
WHERE a.metric = 'dominance' AND a.level = 'model, topic'
ORDER BY a.model, a.topic;
