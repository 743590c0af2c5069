-- A row is an item one step above those in `below`, on a way that some scope may take. Instance-of is a first step only.
SELECT DISTINCT claim.target AS item
FROM below JOIN wikidata.claims AS claim USING (item)
WHERE claim.property = 'P279'
   OR (claim.property = 'P361' AND (SELECT bool_or(part_of) FROM scopes))
   OR (claim.property = 'P31' AND $first)
ORDER BY item
