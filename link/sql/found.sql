-- found: a row is an item that an ask may mean, by the best of its names that matches. Strength, smaller is better:
-- 0 label, 1 alias, 2 either after normalisation; 3, 4, 5 the same in English; 6 another spelling; 7 another form of the
-- word; 8 fuzzy.
CREATE OR REPLACE TABLE found AS
WITH hits AS (
    SELECT
        keys.lookup,
        name.item,
        chain.position,
        name.name,
        name.language,
        CASE WHEN chain.english THEN 3 ELSE 0 END
        + CASE WHEN name.name <> lookup.surface THEN 2 WHEN name.kind = 'alias' THEN 1 ELSE 0 END AS strength
    FROM keys
    JOIN chain USING (language, fold)
    JOIN wikidata.names AS name ON name.language = chain.name_language AND name.normalised = keys.key AND keys.key <> ''
    JOIN lookups AS lookup USING (lookup)
),
best AS (
    SELECT lookup, item, strength, name, language
    FROM hits
    QUALIFY row_number() OVER (PARTITION BY lookup, item ORDER BY strength, position, name, language) = 1
)
SELECT
    asks.ask,
    asks.heading,
    best.item,
    best.strength::UTINYINT AS strength,
    best.name,
    best.language,
    100.0::DOUBLE AS score
FROM best JOIN asks USING (lookup);

-- A disambiguation page bears every name that needs one.
DELETE FROM found USING only_pages('found') AS page WHERE found.item = page.item;
