-- topic_names: add the names in $language without their article, which counts as one rule. An article before a hyphen is a
-- part of the word: An-doughnut.
INSERT INTO topic_names
SELECT item, language, name, kind, 1, bare, loose(bare)
FROM (
    SELECT *, regexp_replace(normalised, $articles, '') AS bare FROM topic_names
    WHERE language = $language AND regexp_matches(normalised, $articles)
        AND regexp_matches(name, '^\PL*\pL+\s')
)
