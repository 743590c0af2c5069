-- inner_parts: add the names of the topics within the spellings of $language that led nowhere. With $spaced a name may stand
-- anywhere between spaces; without, at the beginning or the end alone.
INSERT INTO inner_parts
WITH asked AS (
    SELECT DISTINCT keys.key
    FROM unmatched
    JOIN keys USING (lookup)
    ANTI JOIN found ON found.query = unmatched.query
    WHERE keys.language = $language AND length(keys.key) <= 120
),
cuts AS (
    SELECT key AS whole, boundaries(key, $spaced) AS places FROM asked
),
spans AS (
    SELECT whole, first, last, trim(whole[first + 1:last]) AS key
    FROM (
        SELECT whole, first, unnest(places) AS last
        FROM (SELECT whole, places, unnest(places) AS first FROM cuts WHERE $spaced AND len(places) BETWEEN 3 AND 12)
        UNION ALL
        SELECT whole, 0 AS first, unnest(places[2:-2]) AS last FROM cuts WHERE NOT $spaced AND len(places) BETWEEN 3 AND 40
        UNION ALL
        SELECT whole, unnest(places[2:-2]) AS first, length(whole) AS last FROM cuts WHERE NOT $spaced AND len(places) BETWEEN 3 AND 40
    )
    WHERE last > first AND last - first < length(whole)
),
named AS (
    SELECT *
    FROM spans
    SEMI JOIN inner_texts ON inner_texts.normalised = spans.key
)
SELECT
    $language, whole, $spaced, $head_last, key, trim(whole[:first]), trim(whole[last + 1:]),
    known_sorts(trim(whole[:first]), $things_before, $wear_before, $works_before),
    known_sorts(trim(whole[last + 1:]), $things_after, $wear_after, $works_after),
    nullif(regexp_extract(trim(whole[:first]), $creator_before, 1), ''),
    nullif(regexp_extract(trim(whole[last + 1:]), $creator_after, 1), '')
FROM named;
