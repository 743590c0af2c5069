-- What is counted: entities of a cell, under a multiplicity. Everything that counts entities starts from here, so that no
-- two ways of counting them have SQL of their own.

-- surface_key: the same for surfaces that differ in case, in blanks or in how accents are encoded.
CREATE MACRO surface_key(surface) AS
    lower(nfc_normalize(trim(regexp_replace(surface, '[\s\p{Z}]+', ' ', 'g'))));

-- cell_unlinked: a row is a surface of a cell whose mentions are not linked, under its `surface_key`: the responses that
-- mention it (`seen`), its `mentions`, how many of them are `specific`, and the sum over responses of their mean label.
CREATE VIEW cell_unlinked AS
WITH surfaces AS MATERIALIZED (
    SELECT DISTINCT c.language, c.topic, s.kind, s.surface
    FROM cell_surfaces AS s
    INNER JOIN numbered_cells AS c USING (cell)
    WHERE s.status IS DISTINCT FROM 'linked'
),
keys AS MATERIALIZED (
    SELECT *, surface_key(surface) AS name, dense_rank() OVER (ORDER BY surface_key(surface))::INTEGER AS key FROM surfaces
),
mentioned AS ( -- numbers alone, as in `cell_incidence`
    SELECT
        p.prompt, m.sample::INTEGER AS sample, k.key,
        count(*) AS mentions, count(*) FILTER (m.granularity = 1) AS specific
    FROM stored_mentions AS m
    INNER JOIN cell_prompts AS p USING (request_id, extractor_id)
    INNER JOIN keys AS k USING (language, topic, kind, surface)
    WHERE m.reader_id IS NOT DISTINCT FROM p.reader_id AND m.sample < p.n AND m.counted AND NOT m.hallucinated
    GROUP BY ALL
),
counts AS (
    SELECT
        p.cell, m.key, count(*) AS seen, sum(m.mentions)::BIGINT AS mentions, sum(m.specific)::BIGINT AS specific,
        sum(mean_label(m.specific, m.mentions)) AS specific_seen
    FROM mentioned AS m
    INNER JOIN asked_prompts AS p USING (prompt)
    GROUP BY ALL
)
SELECT c.cell, k.name AS surface, c.seen, c.mentions, c.specific, c.specific_seen
FROM counts AS c
INNER JOIN (SELECT DISTINCT key, name FROM keys) AS k USING (key);

-- cell_entities: a row is an entity of a cell: an item that mentions are linked to, or a surface without a link.
CREATE VIEW cell_entities AS
SELECT cell, true AS linked, qid, NULL AS surface, seen, mentions, specific, specific_seen
FROM cell_incidence
WHERE seen > 0
UNION ALL
SELECT cell, false, NULL, surface, seen, mentions, specific, specific_seen
FROM cell_unlinked;

-- weighted_entities: a row is an entity of a cell under a `multiplicity`: it counts once in the cell ('union'), once in
-- each response that mentions it ('response'), or as often as it is mentioned ('occurrence'). `weight` is how often it
-- counts, `specific` the sum of its labels over that: of the mean label of its mentions in the cell, of those in each
-- response, of each label.
CREATE VIEW weighted_entities AS
SELECT e.cell, e.linked, e.qid, m.multiplicity, m.weight, m.specific
FROM cell_entities AS e
CROSS JOIN LATERAL (
    VALUES
        ('union', 1::BIGINT, mean_label(e.specific, e.mentions)::DECIMAL(38, 15)),
        ('response', e.seen, e.specific_seen::DECIMAL(38, 15)),
        ('occurrence', e.mentions, e.specific::DECIMAL(38, 15))
) AS m (multiplicity, weight, specific);

-- counted_entities: a row is one of `weighted_entities` under the `entities` that are counted: 'linked', or 'all'. The
-- metrics count linked ones, once per response. 'linked or ambiguous' also takes an item that is the first of several
-- rivals, once per response, without labels.
CREATE VIEW counted_entities AS
SELECT 'linked' AS entities, cell, qid, multiplicity, weight, specific FROM weighted_entities WHERE linked
UNION ALL
SELECT 'all', cell, qid, multiplicity, weight, specific FROM weighted_entities
UNION ALL
SELECT 'linked or ambiguous', cell, qid, 'response', seen_with_ambiguous, NULL FROM cell_incidence;

-- counted: a row is a cell under a multiplicity and `entities`: how often entities count there (`weight`), and the sum of
-- their labels.
CREATE VIEW counted AS
SELECT cell, multiplicity, entities, sum(weight)::BIGINT AS weight, sum(specific) AS specific
FROM counted_entities
GROUP BY ALL;
