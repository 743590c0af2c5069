-- A row is an unmatched mention of $language with an apostrophe, and the number of one of its normal forms.
SELECT DISTINCT spelling.spelling, keys.fold, lookup.surface
FROM spellings AS spelling
JOIN keys USING (language, key)
JOIN lookups AS lookup USING (lookup)
SEMI JOIN unmatched USING (lookup)
WHERE spelling.language = $language AND regexp_matches(lookup.surface, '[\x{27}\x{2019}\x{02BC}]')
ORDER BY ALL
