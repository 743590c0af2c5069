-- A row is an unmatched mention with title marks, quotation marks or brackets at its end, and the number of its first normal form.
SELECT marked.language, min(spelling.spelling) AS spelling, marked.surface
FROM (SELECT lookup, language, surface FROM lookups WHERE regexp_matches(surface, '[《〈「『“„«»"]|[)\]）］]\s*$')) AS marked
SEMI JOIN unmatched USING (lookup)
JOIN keys ON keys.lookup = marked.lookup
JOIN spellings AS spelling ON spelling.language = keys.language AND spelling.key = keys.key
GROUP BY marked.language, marked.surface
ORDER BY ALL
