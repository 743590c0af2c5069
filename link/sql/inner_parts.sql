-- inner_parts: add the parts of $language in `inner_spans`, with what stands around them.
INSERT INTO inner_parts
SELECT
    language, whole, spaced, head_last, key, trim(whole[:first]), trim(whole[last + 1:]),
    known_sorts(trim(whole[:first]), $things_before, $wear_before, $works_before),
    known_sorts(trim(whole[last + 1:]), $things_after, $wear_after, $works_after),
    nullif(regexp_extract(trim(whole[:first]), $creator_before, 1), ''),
    nullif(regexp_extract(trim(whole[last + 1:]), $creator_after, 1), '')
FROM inner_spans
WHERE language = $language;
