-- surfaces: a row is a distinct surface of a counted kind in a language and topic, what became of it, and how often it is
-- mentioned. Each is looked up once, however many mentions it has.
CREATE OR REPLACE TEMP TABLE surfaces AS
WITH counted AS (
    SELECT language, topic, kind, surface, hallucinated, count(*) AS mentions
    FROM counted_mentions
    GROUP BY ALL
)
SELECT
    c.language, c.topic, c.kind, c.surface, c.hallucinated, c.mentions,
    CASE WHEN c.hallucinated THEN 'hallucinated' ELSE coalesce(l.status, 'awaiting') END AS status,
    CASE WHEN NOT c.hallucinated THEN l.qid END AS qid,
    CASE WHEN NOT c.hallucinated THEN l.path END AS path,
    CASE WHEN NOT c.hallucinated THEN l.match END AS match
FROM counted AS c
LEFT JOIN links AS l USING (language, topic, kind, surface);
