-- claims, bearers: replace merged items by their targets.
UPDATE draft.claims SET target = redirect.target
FROM wikidata.redirects AS redirect
WHERE claims.target = redirect.item;

UPDATE draft.bearers SET target = redirect.target
FROM wikidata.redirects AS redirect
WHERE bearers.target = redirect.item;
