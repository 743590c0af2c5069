-- judgements: a row is what one judge said of a mention and its link, or (`ordinal` NULL) of what a response lacks.
CREATE VIEW judgements AS SELECT * FROM stored_judgements;

-- audited_mentions: a row is a present mention that somebody judged. A judgement on which judges differ is NULL and the
-- row `disputed`; one of a link that has changed since does not count.
CREATE VIEW audited_mentions AS
WITH said AS (
    SELECT
        extraction_id, ordinal, qid,
        count(*) AS judges,
        CASE WHEN count(DISTINCT mention) = 1 THEN any_value(mention) END AS mention,
        CASE WHEN count(DISTINCT specific) = 1 THEN any_value(specific) END AS specific,
        CASE WHEN count(DISTINCT link) = 1 THEN any_value(link) END AS link,
        greatest(count(DISTINCT mention), count(DISTINCT specific), count(DISTINCT link)) > 1 AS disputed
    FROM judgements
    WHERE ordinal IS NOT NULL
    GROUP BY ALL
)
SELECT
    m.extraction_id, m.ordinal, m.response_id, m.model, m.language, m.topic, m.condition, m.country, m.surface,
    m.granularity, m.status, CASE WHEN m.status = 'linked' THEN m.qid END AS qid,
    s.judges, s.disputed, s.mention, coalesce(s.specific, m.granularity) AS specific,
    s.qid IS DISTINCT FROM CASE WHEN m.status = 'linked' THEN m.qid END AS relinked,
    CASE WHEN NOT relinked THEN s.link END AS link
FROM linked_mentions AS m
INNER JOIN said AS s USING (extraction_id, ordinal);

-- audit_counts: a row is a language and topic: what the judges agree on. A mention is right or wrong; a response lacks
-- some (`missed`, with the right mentions of the same responses). A link is right, wrong (another item is meant) or
-- surplus (none is); a mention without one is rightly so, or lacks one (`missed_links`). Links of wrong mentions are not
-- counted.
CREATE VIEW audit_counts AS
WITH whole AS (
    SELECT extraction_id, CASE WHEN count(DISTINCT missed) = 1 THEN any_value(missed) END AS missed
    FROM judgements
    WHERE ordinal IS NULL
    GROUP BY extraction_id
),
counts AS (
    SELECT
        language, topic,
        count(mention) AS judged,
        count(*) FILTER (mention = 'right') AS right_mentions,
        count(*) FILTER (mention = 'right' AND w.missed IS NOT NULL) AS right_in_whole,
        count(*) FILTER (disputed) AS disputed,
        count(*) FILTER (mention = 'right' AND status = 'linked' AND link = 'right') AS right_links,
        count(*) FILTER (mention = 'right' AND status = 'linked' AND link = 'wrong') AS wrong_links,
        count(*) FILTER (mention = 'right' AND status = 'linked' AND link = 'none') AS surplus_links,
        count(*) FILTER (mention = 'right' AND status <> 'linked' AND link = 'wrong') AS missed_links,
        count(*) FILTER (mention = 'right' AND status <> 'linked' AND link IN ('right', 'none')) AS rightly_none,
        0 AS missed
    FROM audited_mentions
    LEFT JOIN whole AS w USING (extraction_id)
    GROUP BY language, topic
    UNION ALL BY NAME
    SELECT e.language, e.topic, sum(w.missed)::BIGINT AS missed
    FROM whole AS w
    INNER JOIN extractions AS e USING (extraction_id)
    GROUP BY e.language, e.topic
)
SELECT language, topic, coalesce(sum(COLUMNS(* EXCLUDE (language, topic))), 0)::BIGINT
FROM counts
GROUP BY language, topic;
