-- expansions: the forms and spellings to search for unmatched queries: those of `expansion_texts`, and spelling variants of
-- the mention: without Arabic articles, Devanagari dots and Thai tone marks, without blanks and hyphens, with blanks for
-- Persian joiners, in the other kana.
INSERT INTO expansions
WITH own AS (
    SELECT DISTINCT lookup AS own, language, trim(regexp_replace(surface, $marks, '', 'g')) AS surface
    FROM lookups SEMI JOIN unmatched USING (lookup)
),
expansion AS (
    SELECT own, language, surface FROM expansion_texts
    UNION
    SELECT own, language, no_al(surface) FROM expansion_texts WHERE regexp_matches(surface, '[\p{Arabic}\p{Devanagari}]')
    UNION
    SELECT
        own, language,
        unnest([
            CASE WHEN regexp_matches(surface, '[\p{Arabic}\p{Devanagari}]') THEN no_al(surface) END,
            CASE WHEN regexp_matches(surface, '\p{Thai}') THEN toneless(surface) END,
            regexp_replace(surface, '[ \p{Pd}・·]', '', 'g'),
            replace(surface, chr(8204), ' '),
            CASE WHEN regexp_matches(surface, '\p{Katakana}') THEN one_kana(surface) END,
            CASE WHEN regexp_matches(surface, '\p{Hiragana}') THEN katakana(surface) END
        ])
    FROM own
)
SELECT
    coalesce(
        lookup.lookup, (SELECT max(lookup) FROM lookups) + dense_rank() OVER (ORDER BY expansion.language, expansion.surface)
    ) AS lookup,
    expansion.own, expansion.language, expansion.surface
FROM expansion LEFT JOIN lookups AS lookup USING (language, surface)
WHERE expansion.surface <> '' AND lookup.lookup IS DISTINCT FROM expansion.own;
