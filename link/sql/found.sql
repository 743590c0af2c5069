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
    SELECT lookup, item, min((strength, position, name, language)) AS hit
    FROM hits
    GROUP BY lookup, item
)
SELECT
    asks.ask,
    asks.heading,
    best.item,
    best.hit[1]::UTINYINT AS strength,
    best.hit[3] AS name,
    best.hit[4] AS language,
    100.0::DOUBLE AS score
FROM best JOIN asks USING (lookup);

-- A disambiguation page bears every name that needs one.
DELETE FROM found USING only_pages('found') AS page WHERE found.item = page.item;
