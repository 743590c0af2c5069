-- turned: the other forms and spellings under which a service is asked for the unmatched: those of `written`, and the
-- spellings that can be made of the mention: without Arabic articles, Devanagari's dots and Thai tone marks, without blanks and hyphens,
-- with blanks for Persian joints, in the other kana.
INSERT INTO turned
WITH own AS (
    SELECT DISTINCT lookup AS own, language, trim(regexp_replace(surface, $marks, '', 'g')) AS surface
    FROM lookups SEMI JOIN unmatched USING (lookup)
),
asked AS (
    SELECT own, language, surface FROM written
    UNION
    SELECT own, language, no_al(surface) FROM written WHERE regexp_matches(surface, '[\p{Arabic}\p{Devanagari}]')
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
        lookup.lookup, (SELECT max(lookup) FROM lookups) + dense_rank() OVER (ORDER BY asked.language, asked.surface)
    ) AS lookup,
    asked.own, asked.language, asked.surface
FROM asked LEFT JOIN lookups AS lookup USING (language, surface)
WHERE asked.surface <> '' AND lookup.lookup IS DISTINCT FROM asked.own;
