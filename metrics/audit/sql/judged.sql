-- A row: a judged mention as the correction of a metric by what is `judged` needs it ('labels', 'links', 'count'), under a reading of what its judges differ on: 'half'
-- (each of their readings alike), or the one that makes the metric greatest ('most') or least ('least'). `is_right`,
-- `right_specific`, `link_judged` and `link_right` are 0 to 1. `weight` is 1 over the mentions of its item in its cell, so
-- that each item of a cell counts once, however often it is mentioned. `once`, `once_right` and `once_linked` do the same
-- for the judged mentions of an item in a response: of all of them, of the right ones, and of those with the right link. A
-- wrong mention is no entity, whatever stands in `link`.
WITH sizes AS (
    SELECT c.*, i.qid, i.mentions FROM cell_incidence AS i INNER JOIN numbered_cells AS c USING (cell)
),
mentions AS (
    SELECT
        a.extraction_id, a.ordinal, a.language, a.response_id, a.granularity AS label,
        coalesce(a.status = 'linked', false) AS linked, a.condition = 'explicit' AS explicit,
        s.qid IS NOT NULL AS associated, a.qid, 1 / n.mentions AS weight
    FROM audited_mentions AS a
    LEFT JOIN associations AS s ON a.qid = s.qid AND a.country = s.country
    LEFT JOIN sizes AS n
        ON a.model = n.model AND a.language = n.language AND a.topic = n.topic AND a.condition = n.condition
        AND a.country IS NOT DISTINCT FROM n.country AND a.wording = n.wording AND a.qid = n.qid
),
readings AS (
    SELECT
        m.*, r.weight AS share, r.mention = 'right' AS is_right, is_right AND coalesce(r.specific, 0) = 1 AS right_specific,
        is_right AND r.link IS NOT NULL AS link_judged, is_right AND coalesce(r.link, '') = 'right' AS link_right
    FROM mentions AS m
    INNER JOIN audit_readings AS r USING (extraction_id, ordinal)
),
effects AS (
    SELECT
        *,
        CASE judged
            WHEN 'labels' THEN CASE WHEN right_specific THEN 2 WHEN is_right THEN 0 ELSE 1 END
            WHEN 'links' THEN CASE WHEN NOT link_right THEN 1 WHEN associated THEN 2 ELSE 0 END
            ELSE CASE WHEN link_right THEN 3 WHEN is_right AND NOT link_judged THEN 2 WHEN is_right THEN 0 ELSE 1 END
        END AS effect
    FROM readings CROSS JOIN (VALUES ('labels'), ('links'), ('count')) AS s(judged)
),
shares AS (
    SELECT
        * EXCLUDE (share),
        CASE reading
            WHEN 'half' THEN share
            WHEN 'most' THEN (row_number() OVER (one ORDER BY effect DESC) = 1)::DOUBLE
            ELSE (row_number() OVER (one ORDER BY effect) = 1)::DOUBLE
        END AS share
    FROM effects CROSS JOIN (VALUES ('half'), ('most'), ('least')) AS s(reading)
    WINDOW one AS (PARTITION BY judged, reading, extraction_id, ordinal)
),
judged_mentions AS (
    SELECT
        judged, reading, language, response_id, extraction_id, ordinal, label, linked, explicit, associated, qid, weight,
        sum(share * is_right::INT) AS is_right, sum(share * right_specific::INT) AS right_specific,
        sum(share * link_judged::INT) AS link_judged, sum(share * link_right::INT) AS link_right
    FROM shares
    GROUP BY ALL
)
SELECT
    judged, reading, language, response_id, label, linked, explicit, associated, weight,
    is_right, right_specific, link_judged, link_right,
    1 / count(*) OVER item AS once,
    1 / greatest(1, sum(is_right ORDER BY is_right) OVER item) AS once_right,
    1 / greatest(1, sum(link_right ORDER BY link_right) OVER item) AS once_linked
FROM judged_mentions
WINDOW item AS (PARTITION BY judged, reading, extraction_id, qid)
ORDER BY judged, reading, language, response_id, ordinal
