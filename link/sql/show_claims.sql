-- A row is a statement of the item.
SELECT property, target
FROM wikidata.claims
WHERE item = $item
ORDER BY property, target
