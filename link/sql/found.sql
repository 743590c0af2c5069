-- A text without capital letters: in Turkish I is the capital of ı.
CREATE MACRO small(text, turkish) AS lower(CASE WHEN turkish THEN translate(text, 'Iİ', 'ıi') ELSE text END);

-- Names are sorted by their forms, keys by theirs: outside the range of what is looked up no block is read, which is most of
-- them for one mention.
SET VARIABLE first_form = (SELECT least(min(normalised), min(key)) FROM normal_forms);
SET VARIABLE last_form = (SELECT greatest(max(normalised), max(key)) FROM normal_forms);

-- found: a row is a candidate of a query, by its best name. `grade`: 0 exact (but for capital letters, which begin a sentence),
-- 1 equal normal forms, or without a parenthesis, 2 equal keys. `tier` is how far the name is trusted where an item outside the topic bears it, too: 0 in
-- the language asked for, 1 in English as its last resort, 2 by the key. `only_english`: no other text of the query leads there.
-- `english_name`: only an English name matches, by the English name that the extractor gives, or as the last resort.
-- `english_grade`: the best grade by the English name that the extractor gives; NULL where that does not match the item.
CREATE TABLE found AS
WITH bases AS (
    SELECT DISTINCT name_language, base FROM chain
),
names AS (
    SELECT name.item, name.language, base, name.name, name.kind, name.normalised AS form, false AS by_key
    FROM wikidata.names AS name JOIN bases ON name_language = language
    WHERE name.normalised BETWEEN getvariable('first_form') AND getvariable('last_form')
    UNION ALL
    SELECT name.item, name.language, base, name.name, name.kind, name.key, true
    FROM keys AS name JOIN bases ON name_language = language
    WHERE name.key BETWEEN getvariable('first_form') AND getvariable('last_form')
),
-- A key is looked up among keys, and among the normal forms that are their own keys.
looked_up AS (
    SELECT spelling, language, base, normalised AS form, false AS by_key, key = normalised AS is_key, short FROM normal_forms WHERE normalised <> ''
    UNION ALL
    SELECT spelling, language, base, key, true, true, short FROM normal_forms WHERE key <> normalised AND normalised <> ''
),
-- Joined by the rules of a language (those of zh for zh-hk) first: only what is found is held against the text's fallback chain.
-- One or two Latin letters are too little for a name of another language, and so is a key: English is folded by rules of its own.
hits AS (
    SELECT form.spelling, form.by_key OR name.by_key AS by_key, name.item, name.name, name.language, name.kind = 'alias' AS alias,
        chain.place, chain.last_resort, chain.turkish
    FROM looked_up AS form
    JOIN names AS name ON name.base = form.base AND name.form = form.form AND (form.is_key OR NOT name.by_key)
    JOIN chain ON chain.language = form.language AND chain.name_language = name.language AND NOT (chain.last_resort AND (form.short OR form.by_key OR name.by_key))
),
graded AS (
    SELECT text.query, text.part, hits.*, CASE
        WHEN by_key THEN 2 WHEN cut THEN 1 WHEN name = text THEN 0 ELSE small(name, turkish) <> small(text, turkish)
    END::UTINYINT AS grade
    FROM texts AS text JOIN hits USING (spelling)
)
SELECT
    query, item, best[3] = 2 AS only_english, english_name, english_grade, tier,
    (best[1], best[2], best[3], best[4], best[5]) AS rank_key,
    {'name': best[7], 'language': best[8]} AS matched
FROM (
    SELECT
        query, item,
        min((part = 2, grade, part, last_resort, alias, place, name, language)) AS best,
        min(CASE WHEN grade = 2 THEN 2 WHEN last_resort THEN 1 ELSE 0 END) AS tier,
        bool_and(part = 2 OR last_resort) AS english_name,
        min(grade) FILTER (part = 2) AS english_grade
    FROM graded
    WHERE NOT getvariable('paper') OR grade = 0
    GROUP BY query, item
);
