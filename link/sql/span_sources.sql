-- A row is a surface of $language without any candidate, one of its normal forms, and a part of that which may be a name, or whoever
-- made what the other part names: what stands beside is carrier words on one side at least. A name is the first or the last
-- words of the rest; without $spaced, letters, in mentions of at most $letters.
WITH asked AS (
    SELECT DISTINCT lookup.lookup, lookup.language, lookup.surface, keys.key
    FROM unmatched
    ANTI JOIN found ON found.query = unmatched.query
    JOIN lookups AS lookup ON lookup.lookup = unmatched.lookup AND lookup.language = $language
    JOIN keys ON keys.lookup = lookup.lookup
    WHERE length(keys.key) <= CASE WHEN $spaced THEN 120 ELSE $letters END
),
cuts AS (
    SELECT *, boundaries(key, $spaced) AS places FROM asked
),
firsts AS (
    SELECT *, unnest(places[:-2]) AS first FROM cuts WHERE len(places) BETWEEN 3 AND CASE WHEN $spaced THEN 12 ELSE 40 END
),
spans AS (
    SELECT *, trim(key[:first]) AS before, trim(key[last + 1:]) AS after, trim(key[first + 1:last]) AS part
    FROM (SELECT *, unnest(places) AS last FROM firsts)
    WHERE last > first AND last - first < length(key)
),
judged AS (
    SELECT
        *,
        len(known_sorts(before, $things_before, $wear_before, $works_before, $groups_before, $genres_before)) > 0 AS known_before,
        len(known_sorts(after, $things_after, $wear_after, $works_after, $groups_after, $genres_after)) > 0 AS known_after,
        nullif(regexp_extract(before, $creator_before, 1), '') AS creator_before,
        nullif(regexp_extract(after, $creator_after, 1), '') AS creator_after
    FROM spans
    WHERE length(part) > CASE WHEN regexp_matches(part, '\p{Latin}') THEN 2 ELSE 1 END
)
SELECT DISTINCT lookup, language, surface, key, text, length(key) - length(text) AS cost
FROM (
    SELECT lookup, language, surface, key, unnest([
        part, CASE WHEN known_after THEN creator_before END, CASE WHEN known_before THEN creator_after END
    ]) AS text
    FROM judged
    WHERE known_before OR known_after
)
WHERE text <> ''
