-- items: a row is something that mentions came to, the most mentioned first. For mentions that are linked or ambiguous it
-- is a Wikidata item, with the way in which most of its mentions got there; for the others it is a surface in its
-- language, topic and kind. At most $item_limit rows of linked items, and $other_limit of every other status.
CREATE OR REPLACE TEMP TABLE items AS
WITH totals AS (
    SELECT
        status, qid,
        CASE WHEN qid IS NULL THEN language END AS language,
        CASE WHEN qid IS NULL THEN topic END AS topic,
        CASE WHEN qid IS NULL THEN kind END AS kind,
        CASE WHEN qid IS NULL THEN surface END AS surface,
        sum(mentions)::BIGINT AS mentions,
        list_sort(list(DISTINCT surfaces.kind)) AS kinds,
        list_sort(list(DISTINCT surfaces.language)) AS languages,
        arg_max({'path': path, 'match': match}, (surfaces.mentions, surfaces.language, surfaces.surface)) AS route
    FROM surfaces
    GROUP BY ALL
),
ranked AS (
    SELECT
        *,
        list_position(['linked', 'ambiguous', 'no candidate', 'no path', 'hallucinated', 'awaiting'], status) AS place,
        row_number() OVER (PARTITION BY status ORDER BY mentions DESC, qid, language, topic, kind, surface) AS rank,
        count(*) OVER (PARTITION BY status) AS of_status
    FROM totals
)
SELECT row_number() OVER (ORDER BY place, rank) - 1 AS item, * EXCLUDE (place)
FROM ranked
WHERE rank <= CASE WHEN status = 'linked' THEN $item_limit ELSE $other_limit END;
