-- found: a row is a candidate of a query, by its best matching name. Strength, smaller is better: 0 label, 1 alias, 2 either
-- after normalisation; 3, 4, 5 the same in English; 6 spelling variant; 7 inflected form; 8 fuzzy match.
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
    queries.query,
    queries.query_group,
    best.item,
    best.hit[1]::UTINYINT AS strength,
    best.hit[3] AS name,
    best.hit[4] AS language,
    100.0::DOUBLE AS score
FROM best JOIN queries USING (lookup);

-- Disambiguation pages have every ambiguous name.
DELETE FROM found USING only_pages('found') AS page WHERE found.item = page.item;
