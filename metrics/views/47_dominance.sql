-- dominance: a row is a cell: the item that most of its responses name, and the share of its responses that do. The item
-- was chosen because it is the most frequent one, so that its share here is, on average, above the model's own: the more
-- so the fewer responses and the more items that are nearly as frequent. The interval (`numbers`) allows for it. Of
-- several items as frequent (`tied`) the one with the lowest number is shown. 0 where nothing is linked; NULL as diversity. The share
-- is that of `numbers`.
--   qid: the most frequent item; of several as frequent, the one with the lowest number; NULL when nothing is linked
--   dominance: share of responses that name the most frequent item, 0 to 1; NULL when no response was read or nothing
--     was looked up
--   tied: items that as many responses name
CREATE VIEW dominance AS
WITH most AS (
    SELECT cell, max(seen) AS naming FROM cell_incidence GROUP BY cell
),
top AS (
    SELECT i.cell, any_value(m.naming) AS naming, count(*) AS tied, arg_min(i.qid, substr(i.qid, 2)::BIGINT) AS qid
    FROM cell_incidence AS i
    INNER JOIN most AS m ON i.cell = m.cell AND i.seen = m.naming
    GROUP BY i.cell
)
SELECT
    n.model, n.language, n.topic, n.condition, n.country, n.wording, n.estimate AS dominance,
    t.qid, e.label,
    coalesce(t.naming, 0) AS naming, coalesce(t.tied, 0) AS tied, n.responses, n.incidences
FROM cell_numbers AS n
LEFT JOIN top AS t ON n.cell = t.cell AND n.estimate IS NOT NULL
LEFT JOIN entities AS e ON t.qid = e.qid
WHERE n.metric = 'dominance';

-- dominant_items: a row is a model and a topic, over all languages (`language` is NULL) or in one: of its cells the one in
-- whose responses an item dominates most, with that item; and in how many of its cells the item is the most frequent one.
--   language: the language of the group; NULL: all of the model's
--   dominance: the share of that cell's responses that name the item, 0 to 1
--   responses: responses of that cell that the extractor read whole
--   cells: the group's cells in which something is linked
--   in_language: the language of that cell
--   cells_of_item: of the group's cells, those in which the item is the most frequent one
CREATE VIEW dominant_items AS
WITH cell AS MATERIALIZED (
    SELECT model, unnest([NULL, language]) AS "group", language, topic, condition, country, wording, dominance, qid, label, naming,
        responses
    FROM dominance
    WHERE qid IS NOT NULL
),
ranked AS (
    SELECT
        *, count(*) OVER (PARTITION BY model, "group", topic) AS cells,
        count(*) OVER (PARTITION BY model, "group", topic, qid) AS cells_of_item,
        row_number() OVER (
            PARTITION BY model, "group", topic
            ORDER BY dominance DESC, naming DESC, language, condition, country NULLS FIRST, wording
        ) AS place
    FROM cell
)
SELECT
    model, "group" AS language, topic, qid, label, dominance, naming, responses, language AS in_language, condition, country,
    wording, cells_of_item, cells
FROM ranked
WHERE place = 1;
