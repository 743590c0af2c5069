-- published_ranked: a row is an item that a study linked a surface to, by how many of its mentions say so; rank 1 is taken.
CREATE TABLE published_ranked AS
WITH counted AS (
    SELECT language, topic, kind, surface, qid, min(label) AS label, sum(mentions)::BIGINT AS mentions
    FROM published SEMI JOIN queries USING (language, topic, kind, surface)
    GROUP BY ALL
)
SELECT
    *,
    qid[2:]::UINTEGER AS item,
    row_number() OVER (PARTITION BY language, topic, kind, surface ORDER BY mentions DESC, qid[2:]::BIGINT) AS rank,
    count(*) OVER (PARTITION BY language, topic, kind, surface) AS candidates
FROM counted;

CREATE TABLE linked AS SELECT DISTINCT item FROM published_ranked WHERE rank = 1;
