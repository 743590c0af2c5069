-- turned: the other forms and spellings under which a service is asked for the unmatched. A service does not fold
-- Arabic letters as we do: a form that is a piece of the mention is written as it is there. Of spellings, those are asked
-- for that can be made of the mention: without Arabic articles and Devanagari's dots, without blanks, with blanks for
-- Persian joints, in the other kana.
INSERT INTO turned
WITH own AS (
    SELECT DISTINCT
        lookup.lookup AS own, lookup.language, spelling.spelling, keys.key,
        trim(regexp_replace(lookup.surface, $marks, '', 'g')) AS surface
    FROM lookups AS lookup
    SEMI JOIN unmatched USING (lookup)
    JOIN keys USING (lookup)
    JOIN spellings AS spelling ON spelling.language = lookup.language AND spelling.key = keys.key
),
asked AS (
    SELECT
        own.own, own.language,
        CASE
            WHEN length(own.surface) = length(own.key) AND contains(own.key, form.key)
                THEN substr(own.surface, strpos(own.key, form.key), length(form.key))
            ELSE form.key
        END AS surface
    FROM own JOIN forms AS form USING (spelling)
    UNION
    SELECT
        own, language,
        unnest([
            CASE WHEN regexp_matches(surface, '[\p{Arabic}\p{Devanagari}]') THEN no_al(surface) END,
            replace(surface, ' ', ''),
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
