-- consensus: a row is a pair of languages (`language` < `other_language`) in which the same model was asked about the
-- same topic and country under the same condition, in the same wording: the items that both gave, over the items that either gave,
-- as in `numbers`. NULL when neither gave one, or when the diversity of one of the two is NULL.
--   consensus: items of both languages over items of either (Jaccard), 0 to 1; NULL when neither has one
--   entities: distinct linked items of `language`
--   other_entities: distinct linked items of `other_language`
--   other_responses: responses in `other_language` that the extractor read whole
--   other_incidences: incidences in `other_language`
CREATE VIEW consensus AS
WITH items AS (SELECT * FROM cell_numbers WHERE metric = 'diversity')
SELECT
    n.model, n.language, n.other_language, n.topic, n.condition, n.country, n.wording, n.estimate AS consensus,
    coalesce(a.estimate, 0)::BIGINT AS entities, coalesce(b.estimate, 0)::BIGINT AS other_entities,
    a.responses, b.responses AS other_responses, a.incidences, b.incidences AS other_incidences
FROM cell_numbers AS n
INNER JOIN items AS a ON n.cell = a.cell
INNER JOIN items AS b
    ON n.model = b.model AND n.other_language = b.language AND n.topic = b.topic AND n.condition = b.condition
    AND n.country IS NOT DISTINCT FROM b.country AND n.wording = b.wording
WHERE n.metric = 'consensus';
