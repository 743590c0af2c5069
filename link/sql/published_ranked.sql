-- published_ranked: a row is an item that a study linked a surface to, by how many of its mentions say so; rank 1 is taken. An
-- item that was merged into another since is that one.
CREATE TABLE published_ranked AS
WITH resolved AS (
    SELECT language, topic, kind, surface, coalesce(moved.target, qid[2:]::UINTEGER) AS item, label, mentions
    FROM published
    SEMI JOIN queries USING (language, topic, kind, surface)
    LEFT JOIN wikidata.redirects AS moved ON moved.item = qid[2:]::UINTEGER
),
counted AS (
    SELECT language, topic, kind, surface, item, min(label) AS label, sum(mentions)::BIGINT AS mentions
    FROM resolved
    GROUP BY ALL
)
SELECT
    *,
    'Q' || item AS qid,
    row_number() OVER (PARTITION BY language, topic, kind, surface ORDER BY mentions DESC, item) AS rank,
    count(*) OVER (PARTITION BY language, topic, kind, surface) AS candidates
FROM counted;

CREATE TABLE linked AS SELECT DISTINCT item FROM published_ranked WHERE rank = 1;
