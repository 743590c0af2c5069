-- A text without capital letters: in Turkish I is the capital of ı.
CREATE MACRO small(text, turkish) AS lower(CASE WHEN turkish THEN translate(text, 'Iİ', 'ıi') ELSE text END);

-- forms: a row is a text of a query under a normal form and key, and a language whose names are compared with it. One or two
-- Latin letters are too little for a name of another language.
CREATE TABLE forms AS
SELECT text.query, text.part, text.text, form.normalised, form.key, chain.name_language, chain.place, chain.last_resort, chain.turkish
FROM texts AS text
JOIN normal_forms AS form USING (language, text)
JOIN chain USING (language, base)
WHERE form.normalised <> '' AND NOT (chain.last_resort AND length(form.normalised) <= 2 AND regexp_matches(form.normalised, '^[\p{Latin}\p{N}]{1,2}$'));

-- found: a row is a candidate of a query, by its best name. `grade`: 0 exact (but for capital letters, which begin a sentence),
-- 1 equal normal forms, 2 equal keys. `tier` is how far the name is trusted where an item outside the topic bears it, too: 0 in
-- the language asked for, 1 in English as its last resort, 2 by the key. `only_english`: no other text of the query leads there.
CREATE TABLE found AS
WITH looked_up AS (
    SELECT *, normalised AS name, false AS by_key FROM forms
    UNION ALL
    SELECT *, key, true FROM forms WHERE key <> normalised
),
hits AS (
    SELECT form.query, form.part, form.place, form.last_resort, name.item, name.name, name.language, name.kind = 'alias' AS alias,
        CASE WHEN form.by_key THEN 2 ELSE small(name.name, form.turkish) <> small(form.text, form.turkish) END::UTINYINT AS grade
    FROM looked_up AS form
    JOIN wikidata.names AS name ON name.language = form.name_language AND name.normalised = form.name
    UNION ALL
    SELECT form.query, form.part, form.place, form.last_resort, name.item, name.name, name.language, name.kind = 'alias', 2
    FROM forms AS form
    JOIN wikidata.keys AS name ON name.language = form.name_language AND name.key = form.key
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
    FROM hits
    WHERE NOT getvariable('paper') OR grade = 0
    GROUP BY query, item
);
