-- A row is an unmatched surface with one of its normal forms and another form made from that: an inflected form, a name within
-- the surface, or a form of that name. NULL where there is none. `cost`: what is searched first is cheap.
WITH source AS (
    SELECT lookup.lookup, lookup.language, lookup.surface, keys.key, spelling.spelling
    FROM lookups AS lookup
    SEMI JOIN unmatched USING (lookup)
    JOIN keys USING (lookup)
    JOIN spellings AS spelling ON spelling.language = lookup.language AND spelling.key = keys.key
),
other AS (
    SELECT spelling, key AS form, rule_count AS cost FROM forms
    UNION ALL
    SELECT spelling, key, 1 FROM inner_names
    UNION ALL
    SELECT inner_names.spelling, form.key, 1 + form.rule_count
    FROM inner_names
    JOIN spellings AS named ON named.language = inner_names.language AND named.key = inner_names.key
    JOIN forms AS form ON form.spelling = named.spelling
)
SELECT DISTINCT source.lookup, source.language, source.surface, source.key, other.form, other.cost
FROM source LEFT JOIN other USING (spelling)
