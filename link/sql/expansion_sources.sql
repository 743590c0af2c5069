-- A row is an unmatched surface with one of its normal forms, and the other forms made from that.
SELECT lookup.lookup, lookup.language, lookup.surface, keys.key, list(DISTINCT form.key) FILTER (form.key IS NOT NULL) AS forms
FROM lookups AS lookup
SEMI JOIN unmatched USING (lookup)
JOIN keys USING (lookup)
JOIN spellings AS spelling ON spelling.language = lookup.language AND spelling.key = keys.key
LEFT JOIN forms AS form USING (spelling)
GROUP BY ALL
