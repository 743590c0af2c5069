-- A row is a surface looked up, after $last, and the Wikidata language in which a service is asked for it: the first of the
-- chain.
SELECT lookup.lookup, chain.name_language AS language, lookup.surface
FROM lookups AS lookup JOIN chain ON chain.language = lookup.language AND chain.position = 0
WHERE lookup.lookup > $last
ORDER BY language, lookup.surface
