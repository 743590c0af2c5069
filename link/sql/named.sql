-- A row is an item that bears one of the names looked up, in a language of the chain: a possible candidate.
SELECT DISTINCT name.item
FROM lookups AS lookup
JOIN chain USING (language)
JOIN keys ON keys.lookup = lookup.lookup AND keys.fold = chain.fold
JOIN wikidata.names AS name
    ON name.language = chain.name_language AND loose(name.normalised) = loose(keys.key) AND keys.key <> ''
ORDER BY name.item
