-- consensus: a row is a pair of languages (`language` < `other_language`) in which the same model was asked about the
-- same topic and country under the same condition, in the same wording: the items that both gave, over the items that either gave. NULL
-- when neither gave one, or when the diversity of one of the two is NULL.
CREATE VIEW consensus AS
WITH items AS MATERIALIZED (SELECT * FROM numbered_items),
sets AS MATERIALIZED (
    SELECT
        cell,
        count(*) FILTER (linked > 0) AS entities,
        count(*) FILTER (linked + ambiguous > 0) AS entities_with_ambiguous,
        sum(responses)::BIGINT AS responses,
        coalesce(any_value(n.incidences), 0) AS incidences,
        looked_up(sum(responses), sum(linked + ambiguous + no_candidate + no_path + awaiting), sum(awaiting)) AS known
    FROM items
    LEFT JOIN linked_incidences AS n USING (cell)
    GROUP BY ALL
),
placed AS MATERIALIZED (
    SELECT cell, place, qid, linked > 0 AS linked FROM items INNER JOIN numbered_cells USING (cell) WHERE qid IS NOT NULL
),
shared AS (
    SELECT
        a.cell, b.cell AS other_cell,
        count(*) FILTER (a.linked AND b.linked) AS shared,
        count(*) AS shared_with_ambiguous
    FROM placed AS a
    INNER JOIN placed AS b ON a.place = b.place AND a.qid = b.qid AND a.cell < b.cell
    GROUP BY ALL
),
pairs AS (
    SELECT
        c.model, c.language, d.language AS other_language, c.topic, c.condition, c.country, c.wording,
        coalesce(s.shared, 0) AS shared, a.entities, b.entities AS other_entities,
        coalesce(s.shared_with_ambiguous, 0) AS shared_with_ambiguous,
        a.entities_with_ambiguous + b.entities_with_ambiguous AS both_with_ambiguous,
        a.responses, b.responses AS other_responses, a.incidences, b.incidences AS other_incidences,
        a.known AND b.known AS known
    FROM numbered_cells AS c
    INNER JOIN numbered_cells AS d ON c.place = d.place AND c.cell < d.cell
    INNER JOIN sets AS a ON c.cell = a.cell
    INNER JOIN sets AS b ON d.cell = b.cell
    LEFT JOIN shared AS s ON c.cell = s.cell AND d.cell = s.other_cell
)
SELECT
    model, language, other_language, topic, condition, country, wording,
    CASE WHEN known THEN shared / nullif(entities + other_entities - shared, 0) END AS consensus,
    CASE WHEN known THEN shared_with_ambiguous / nullif(both_with_ambiguous - shared_with_ambiguous, 0) END
        AS consensus_with_ambiguous,
    shared, entities, other_entities, responses, other_responses, incidences, other_incidences
FROM pairs;
