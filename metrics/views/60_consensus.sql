-- consensus: a row is a pair of languages (`language` < `other_language`) in which the same model was asked about the
-- same topic and country under the same condition, in the same wording: the items that both gave, over the items that either gave. NULL
-- when neither gave one, or when the diversity of one of the two is NULL.
--   consensus: items of both languages over items of either (Jaccard), 0 to 1; NULL when neither has one
--   shared: items that both languages gave
--   entities: distinct linked items of `language`
--   other_entities: distinct linked items of `other_language`
--   other_responses: responses in `other_language` that the extractor read whole
--   other_incidences: incidences in `other_language`
CREATE VIEW consensus AS
WITH sets AS MATERIALIZED (
    SELECT d.*, c.place, coalesce(d.diversity, 0) AS entities
    FROM cell_diversity AS d
    INNER JOIN numbered_cells AS c USING (cell)
),
placed AS MATERIALIZED (
    SELECT i.cell, c.place, i.qid FROM cell_incidence AS i INNER JOIN numbered_cells AS c USING (cell)
),
shared AS (
    SELECT a.cell, b.cell AS other_cell, count(*) AS shared
    FROM placed AS a
    INNER JOIN placed AS b ON a.place = b.place AND a.qid = b.qid AND a.cell < b.cell
    GROUP BY ALL
)
SELECT
    a.model, a.language, b.language AS other_language, a.topic, a.condition, a.country, a.wording,
    coalesce(s.shared, 0) / nullif(a.diversity + b.diversity - coalesce(s.shared, 0), 0) AS consensus,
    coalesce(s.shared, 0) AS shared, a.entities, b.entities AS other_entities,
    a.responses, b.responses AS other_responses, a.incidences, b.incidences AS other_incidences
FROM sets AS a
INNER JOIN sets AS b ON a.place = b.place AND a.cell < b.cell
LEFT JOIN shared AS s ON a.cell = s.cell AND b.cell = s.other_cell;
