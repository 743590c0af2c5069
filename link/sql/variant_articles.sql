-- spelled: also the names in $language without their article.
INSERT INTO spelled
SELECT name.item, name.language, name.name, name.kind, loose(regexp_replace(name.normalised, $articles, '')), true
FROM wikidata.names AS name
SEMI JOIN spelled USING (item)
WHERE name.language = $language AND regexp_matches(name.normalised, $articles)
