-- A row: what a judged response adds to a share: `hits` and `cases`, a disputed case counted by halves; the same with
-- each disputed case as the reading that raises the share most (`best`), and least (`worst`). F1 is counted over what was
-- found or should have been, each thing once (Jaccard), a link to another item than the one that is meant twice: it is
-- found and wrong, and the right one is missed. F1 of extraction is of responses that were judged whole. Whether a thing
-- exists is asked of right mentions.
WITH readings AS (
    SELECT
        r.*,
        CASE
            WHEN mention <> 'right' OR link IS NULL THEN 'left out'
            WHEN status = 'linked' THEN CASE link WHEN 'right' THEN 'hit' WHEN 'none' THEN 'miss' ELSE 'two' END
            WHEN link = 'wrong' THEN 'miss'
            ELSE 'left out'
        END AS link_outcome
    FROM audit_readings AS r
),
existences AS (
    SELECT
        a.extraction_id, a.ordinal, a.language, a.topic, unnest(a.answers) AS answer, mentions,
        1 / (len(a.answers) * len(mentions)) AS weight
    FROM (
        SELECT e.*, CASE WHEN len(m.mentions) > 0 THEN m.mentions ELSE ['right'] END AS mentions
        FROM audit_answers AS e
        LEFT JOIN audited_mentions AS m USING (extraction_id, ordinal)
        WHERE e.question = 'existence'
    ) AS a
),
exist AS (SELECT *, unnest(mentions) AS mention FROM existences),
outcomes AS (
    SELECT
        'extraction F1' AS what, r.extraction_id, r.ordinal, r.language, r.topic, r.weight,
        CASE mention WHEN 'right' THEN 'hit' ELSE 'miss' END AS outcome
    FROM readings AS r
    SEMI JOIN audit_whole AS w ON r.extraction_id = w.extraction_id
    UNION ALL
    SELECT 'link F1', extraction_id, ordinal, language, topic, weight, link_outcome FROM readings
    UNION ALL
    SELECT
        what, extraction_id, ordinal, language, topic, weight,
        CASE WHEN mention <> 'right' THEN 'left out' WHEN answer = said THEN 'hit' ELSE 'miss' END
    FROM exist
    CROSS JOIN (VALUES ('fabrication', 'invented'), ('real without an item', 'no item')) AS s(what, said)
    UNION ALL
    SELECT
        'relevance', extraction_id, NULL, language, topic, 1 / len(answers),
        CASE unnest(answers) WHEN 'yes' THEN 'hit' ELSE 'miss' END
    FROM audit_answers
    WHERE question = 'on_topic'
),
ranked AS (
    SELECT o.*, s.rank, s.hits, s.cases
    FROM outcomes AS o
    INNER JOIN (VALUES ('hit', 3, 1, 1), ('left out', 2, 0, 0), ('miss', 1, 0, 1), ('two', 0, 0, 2)) AS s(
        outcome, rank, hits, cases
    ) USING (outcome)
),
counted AS (
    SELECT
        what, extraction_id, ordinal, language, topic,
        sum(weight * hits) AS hits, sum(weight * cases) AS cases, (count(DISTINCT rank) > 1)::INT AS disputed,
        arg_max(hits, rank) AS best_hits, arg_max(cases, rank) AS best_cases,
        arg_min(hits, rank) AS worst_hits, arg_min(cases, rank) AS worst_cases
    FROM ranked
    GROUP BY what, extraction_id, ordinal, language, topic
    UNION ALL
    SELECT
        'extraction F1', extraction_id, NULL, language, topic, 0, missed, (fewest < most)::INT, 0, fewest, 0, most
    FROM audit_whole
)
SELECT
    what, language, topic,
    sum(hits ORDER BY hits)::DOUBLE AS hits, sum(cases ORDER BY cases)::DOUBLE AS cases, sum(disputed)::BIGINT AS disputed,
    sum(best_hits)::DOUBLE AS best_hits, sum(best_cases)::DOUBLE AS best_cases,
    sum(worst_hits)::DOUBLE AS worst_hits, sum(worst_cases)::DOUBLE AS worst_cases
FROM counted
GROUP BY what, language, topic, extraction_id
HAVING sum(cases) + sum(best_cases) + sum(worst_cases) > 0
ORDER BY what, language, topic, extraction_id
