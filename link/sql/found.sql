-- A text without capital letters: in Turkish I is the capital of ı.
CREATE MACRO small(text, turkish) AS lower(CASE WHEN turkish THEN translate(text, 'Iİ', 'ıi') ELSE text END);

-- found: a row is a candidate of a query, by its best name. `grade`: 0 exact (but for capital letters, which begin a sentence),
-- 1 equal normal forms, 2 equal keys. `tier` is how far the name is trusted where an item outside the topic bears it, too: 0 in
-- the language asked for, 1 in English as its last resort, 2 by the key. `only_english`: no other text of the query leads there.
CREATE TABLE found AS
WITH bases AS (
    SELECT DISTINCT name_language, base FROM chain
),
-- A key is looked up among keys, and among the normal forms that are their own keys.
looked_up AS (
    SELECT spelling, language, base, normalised AS form, false AS by_key, key = normalised AS is_key, short FROM normal_forms WHERE normalised <> ''
    UNION ALL
    SELECT spelling, language, base, key, true, true, short FROM normal_forms WHERE key <> normalised AND normalised <> ''
),
-- Joined by the rules of a language (those of zh for zh-hk) first: only what is found is held against the text's fallback chain.
-- Names and keys are joined one by one: of either, sorted as they are, only the blocks are read in which a form may stand.
named AS (
    SELECT form.spelling, form.language AS asked, form.short, form.by_key, name.item, name.name, name.language, name.kind
    FROM looked_up AS form
    JOIN wikidata.names AS name ON name.normalised = form.form
    JOIN bases ON name_language = name.language AND bases.base = form.base
    UNION ALL
    SELECT form.spelling, form.language, form.short, true, name.item, name.name, name.language, name.kind
    FROM looked_up AS form
    JOIN wikidata.keys AS name ON name.key = form.form
    JOIN bases ON name_language = name.language AND bases.base = form.base
    WHERE form.is_key
),
-- One or two Latin letters are too little for a name of another language.
hits AS (
    SELECT named.spelling, named.by_key, named.item, named.name, named.language, named.kind = 'alias' AS alias,
        chain.place, chain.last_resort, chain.turkish
    FROM named
    JOIN chain ON chain.language = named.asked AND chain.name_language = named.language AND NOT (chain.last_resort AND named.short)
),
graded AS (
    SELECT text.query, text.part, hits.*, CASE
        WHEN by_key THEN 2 WHEN name = text THEN 0 ELSE small(name, turkish) <> small(text, turkish)
    END::UTINYINT AS grade
    FROM texts AS text JOIN hits USING (spelling)
)
SELECT
    query, item, best[3] = 2 AS only_english, tier,
    (best[1], best[2], best[3], best[4], best[5]) AS rank_key,
    {'name': best[7], 'language': best[8]} AS matched
FROM (
    SELECT
        query, item,
        min((part = 2, grade, part, last_resort, alias, place, name, language)) AS best,
        min(CASE WHEN grade = 2 THEN 2 WHEN last_resort THEN 1 ELSE 0 END) AS tier
    FROM graded
    WHERE NOT getvariable('paper') OR grade = 0
    GROUP BY query, item
);
