-- inner_parts: add the parts of $language in `inner_spans`, with what stands around them.
INSERT INTO inner_parts
SELECT
    language, whole, spaced, head_last, key, before, after,
    known_sorts(before, $things_before, $wear_before, $works_before, $groups_before, $genres_before),
    known_sorts(after, $things_after, $wear_after, $works_after, $groups_after, $genres_after),
    nullif(regexp_extract(before, $creator_before, 1), ''),
    nullif(regexp_extract(after, $creator_after, 1), ''),
    regexp_matches(whole[:first], '[,:–—-]$')
FROM (
    SELECT *, trim(whole[:first], ' ,;:–—') AS before, trim(whole[last + 1:], ' ,;:–—') AS after
    FROM inner_spans
    WHERE language = $language
);
