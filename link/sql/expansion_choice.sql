-- wanted_texts: a row is a text to search for an unmatched mention (`own`), one of the cheapest $most (`searched`) or not: those of
-- `expansion_texts`, and spelling variants of the mention ($variants): without Arabic articles, Devanagari dots and Thai tone
-- marks, without blanks and hyphens, with blanks for Persian joiners, in the other kana.
CREATE OR REPLACE TEMP TABLE wanted_texts AS
WITH own AS (
    SELECT DISTINCT lookup AS own, language, trim(regexp_replace(surface, $marks, '', 'g')) AS surface
    FROM lookups SEMI JOIN unmatched USING (lookup)
    WHERE $variants
),
expansion AS (
    SELECT own, language, surface, cost FROM expansion_texts
    UNION ALL
    SELECT own, language, no_al(surface), cost FROM expansion_texts WHERE regexp_matches(surface, '[\p{Arabic}\p{Devanagari}]')
    UNION ALL
    SELECT
        own, language,
        unnest([
            CASE WHEN regexp_matches(surface, '[\p{Arabic}\p{Devanagari}]') THEN no_al(surface) END,
            CASE WHEN regexp_matches(surface, '\p{Thai}') THEN toneless(surface) END,
            regexp_replace(surface, '[ \p{Pd}・·]', '', 'g'),
            replace(surface, chr(8204), ' '),
            CASE WHEN regexp_matches(surface, '\p{Katakana}') THEN one_kana(surface) END,
            CASE WHEN regexp_matches(surface, '\p{Hiragana}') THEN katakana(surface) END
        ]),
        0
    FROM own
)
SELECT own, expansion.language, expansion.surface, row_number() OVER (PARTITION BY own ORDER BY min(cost), expansion.surface) <= $most AS searched
FROM expansion
JOIN lookups AS lookup ON lookup.lookup = expansion.own
WHERE expansion.surface <> '' AND expansion.surface <> lookup.surface
GROUP BY own, expansion.language, expansion.surface;
