-- surface_key: the same for surfaces that differ in case, in blanks or in how accents are encoded.
CREATE MACRO surface_key(surface) AS
    lower(nfc_normalize(trim(regexp_replace(surface, '[\s\p{Z}]+', ' ', 'g'))));

-- resolution_rates: a row is how much of what is named has an item. `level` names what the row is of. Where
-- `averaged_over` is NULL, labels and entities are distinct over all that the level does not name; else the rates are means
-- of those of every model, language and topic. A label is a surface of a language, topic and kind that was looked up; an
-- entity is an item, or a surface without one under its `surface_key`.
--   level: what the row is of: 'language', 'topic', 'model, language', 'model, topic' or 'model, language, topic'
--   averaged_over: of a mean of rates, what it is over; NULL: not a mean, labels and entities are distinct over the
--     rest
--   labels: distinct surfaces that were looked up
--   linked_labels: those of them that are linked to an item
--   label_rate: linked_labels over labels, 0 to 1
--   entities: distinct entities: items, and surfaces without one
--   items: distinct linked items
--   item_rate: items over entities, 0 to 1
--   rates: of a mean, how many rates it is over
CREATE VIEW resolution_rates AS
WITH found AS MATERIALIZED (
    SELECT
        s.model, l.language, l.topic, l.kind, l.surface, l.status = 'linked' AS linked,
        CASE WHEN l.status = 'linked' THEN l.qid END AS qid,
        CASE WHEN l.status <> 'linked' THEN surface_key(l.surface) END AS name
    FROM (SELECT DISTINCT c.model, s.query FROM cell_surfaces AS s INNER JOIN numbered_cells AS c USING (cell)) AS s
    INNER JOIN links AS l USING (query)
),
counts AS MATERIALIZED (
    SELECT
        CASE WHEN grouping(model) = 0 THEN model END AS model,
        CASE WHEN grouping(language) = 0 THEN language END AS language,
        CASE WHEN grouping(topic) = 0 THEN topic END AS topic,
        concat_ws(
            ', ',
            CASE WHEN grouping(model) = 0 THEN 'model' END,
            CASE WHEN grouping(language) = 0 THEN 'language' END,
            CASE WHEN grouping(topic) = 0 THEN 'topic' END
        ) AS level,
        count(DISTINCT (language, topic, kind, surface)) AS labels,
        count(DISTINCT (language, topic, kind, surface)) FILTER (linked) AS linked_labels,
        count(DISTINCT qid) AS items,
        count(DISTINCT qid) + count(DISTINCT (language, topic, name)) FILTER (NOT linked) AS entities
    FROM found
    GROUP BY GROUPING SETS ((model, language, topic), (language), (topic), (model, language), (model, topic))
),
rates AS MATERIALIZED (
    SELECT *, linked_labels / labels AS label_rate, items / entities AS item_rate FROM counts
)
SELECT
    level, NULL AS averaged_over, model, language, topic,
    labels, linked_labels, label_rate, entities, items, item_rate, NULL::BIGINT AS rates
FROM rates
UNION ALL
SELECT
    'language', 'models and topics', NULL, language, NULL, NULL, NULL,
    avg(label_rate ORDER BY label_rate), NULL, NULL, avg(item_rate ORDER BY item_rate), count(*)
FROM rates
WHERE level = 'model, language, topic'
GROUP BY language
UNION ALL
SELECT
    'model, topic', 'languages', model, NULL, topic, NULL, NULL,
    avg(label_rate ORDER BY label_rate), NULL, NULL, avg(item_rate ORDER BY item_rate), count(*)
FROM rates
WHERE level = 'model, language, topic'
GROUP BY model, topic;
