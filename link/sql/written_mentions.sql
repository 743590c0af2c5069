-- A row is an unmatched mention of $language with an apostrophe, and the number of one of its normal forms.
SELECT DISTINCT spelling.spelling, keys.fold, lookup.surface
FROM spellings AS spelling
JOIN keys USING (language, key)
JOIN lookups AS lookup USING (lookup)
SEMI JOIN unmatched USING (lookup)
WHERE spelling.language = $language AND lookup.language = $language
  AND (contains(lookup.surface, '''') OR contains(lookup.surface, '’') OR contains(lookup.surface, 'ʼ'))
ORDER BY ALL
