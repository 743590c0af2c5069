-- claims: replace merged items by their targets.
UPDATE draft.claims SET target = redirect.target
FROM wikidata.redirects AS redirect
WHERE claims.target = redirect.item;
