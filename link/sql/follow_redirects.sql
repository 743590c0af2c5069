-- claims: what names a merged item names the one it was merged into.
UPDATE wikidata.claims SET target = redirect.target
FROM wikidata.redirects AS redirect
WHERE claims.target = redirect.item;
