-- rewritten_names: add the names in $language without their article. An article before a hyphen is a part of the word:
-- An-doughnut.
INSERT INTO rewritten_names
SELECT item, language, name, kind, regexp_replace(normalised, $articles, '')
FROM named
WHERE language = $language AND regexp_matches(normalised, $articles) AND regexp_matches(name, '^\PL*\pL+\s')
