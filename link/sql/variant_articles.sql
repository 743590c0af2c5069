-- spelled: also the names in $language without their article, which is a rule that turned the name. A hyphen makes it a
-- part of the word: An-doughnut.
INSERT INTO spelled
SELECT item, language, name, kind, 1, bare, loose(bare)
FROM (
    SELECT *, regexp_replace(normalised, $articles, '') AS bare FROM spelled
    WHERE language = $language AND regexp_matches(normalised, $articles)
        AND regexp_matches(name, '^\PL*\pL+\s')
)
