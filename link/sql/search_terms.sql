-- A row is a surface of the lookups after $last, with the Wikidata language to search it in: the first of the chain.
SELECT lookup.lookup, chain.name_language AS language, lookup.surface
FROM lookups AS lookup JOIN chain ON chain.language = lookup.language AND chain.position = 0
WHERE lookup.lookup > $last
ORDER BY language, lookup.surface
