-- A row is an item one step above those in `frontier`, on a path that some scope allows. Instance-of and occupation are
-- allowed as first steps only; where a scope has types, also from a class.
SELECT DISTINCT claim.target AS item
FROM frontier JOIN wikidata.claims AS claim USING (item)
WHERE claim.property = 'P279'
   OR (claim.property = 'P361' AND (SELECT bool_or(part_of) FROM scopes))
   OR (claim.property = 'P31' AND ($first OR (SELECT count(*) > 0 FROM types)))
   OR (claim.property = 'P106' AND $first AND (SELECT count(occupation) > 0 FROM scopes))
ORDER BY item
