-- found: a row is a candidate of a query, by its best matching name. Strength, smaller is better: 0 label, 1 alias, 2 either
-- after normalisation; 3, 4, 5 the same in English; 6 spelling variant; 7 inflected form; 8 a name within the mention, the
-- rest of which is known, 9 or not; 10 fuzzy match. `grade` is the strength that ranks: of what differs from the mention
-- in capital letters alone, that of the label or alias as it stands.
CREATE OR REPLACE TABLE found AS
WITH hits AS (
    SELECT
        keys.lookup,
        name.item,
        chain.position,
        name.name,
        name.language,
        CASE WHEN chain.english THEN 3 ELSE 0 END AS english,
        CASE WHEN name.kind = 'alias' THEN 1 ELSE 0 END AS alias,
        CASE WHEN name.name = lookup.surface THEN 0 WHEN lower(name.name) = lower(lookup.surface) THEN 1 ELSE 2 END AS other
    FROM keys
    JOIN chain USING (language, fold)
    JOIN wikidata.names AS name ON name.language = chain.name_language AND name.normalised = keys.key AND keys.key <> ''
    JOIN lookups AS lookup USING (lookup)
    -- One or two letters are too little for a name of another language.
    WHERE NOT chain.english OR length(keys.key) > 2 OR NOT regexp_matches(keys.key, '^[\p{Latin}\p{N} ]+$')
),
best AS (
    SELECT lookup, item, min((
        english + CASE other WHEN 0 THEN alias ELSE 2 END, position, name, language
    )) AS hit, min(english + CASE other WHEN 2 THEN 2 ELSE alias END) AS grade
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
    100.0::DOUBLE AS score,
    best.grade::UTINYINT AS grade
FROM best JOIN queries USING (lookup);

-- Disambiguation pages have every ambiguous name.
DELETE FROM found USING only_pages('found') AS page WHERE found.item = page.item;
