-- told_creators: add the texts of $language beside titles, which are no carrier words.
INSERT INTO told_creators
WITH sides AS (
    SELECT
        *, CASE WHEN NOT regexp_full_match(before, $works_before) THEN before ELSE '' END AS first,
        CASE WHEN NOT regexp_full_match(after, $works_after) THEN after ELSE '' END AS last
    FROM titles_within
    WHERE language = $language
)
SELECT query, item, first, false, strength = 9 AND regexp_matches(first, $creator_follows) FROM sides WHERE first <> ''
UNION ALL
SELECT query, item, regexp_extract(first, $creator_before, 1), marked AND first <> regexp_extract(first, $creator_before, 1), false
FROM sides WHERE first <> ''
UNION ALL
SELECT query, item, regexp_extract(last, $creator_after, 1), true, false
FROM sides WHERE regexp_matches(last, $creator_after)
UNION ALL
SELECT query, item, regexp_extract(last, '^[(\[](.+)[)\]]$', 1), false, false
FROM sides WHERE regexp_matches(last, '^[(\[](.+)[)\]]$');
