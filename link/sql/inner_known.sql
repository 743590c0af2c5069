-- inner_names: add the parts of the spellings of $language that stand between carrier words. Those that neither begin nor end
-- with one are left out at once.
INSERT INTO inner_names
WITH edged AS (
    SELECT spelling, key, boundaries(key, $spaced) AS places
    FROM edged_spellings
    WHERE language = $language AND (regexp_matches(key, $first) OR regexp_matches(key, $last))
),
cuts AS (
    SELECT spelling, key, unnest(places) AS place FROM edged
),
befores AS (
    SELECT spelling, key, place, trim(key[:place]) AS rest, known_sorts(trim(key[:place]), $things_before, $wear_before, $works_before, $groups_before, $genres_before) AS sorts
    FROM cuts
    WHERE place < length(key)
),
afters AS (
    SELECT spelling, place, trim(key[place + 1:]) AS rest, known_sorts(trim(key[place + 1:]), $things_after, $wear_after, $works_after, $groups_after, $genres_after) AS sorts
    FROM cuts
    WHERE place > 0
)
SELECT DISTINCT
    before.spelling, $language, trim(before.key[before.place + 1:after.place]), before.rest, after.rest,
    list_intersect(before.sorts, after.sorts)
FROM (FROM befores WHERE len(sorts) > 0) AS before
JOIN (FROM afters WHERE len(sorts) > 0) AS after USING (spelling)
WHERE after.place > before.place AND before.rest || after.rest <> '' AND len(list_intersect(before.sorts, after.sorts)) > 0;
