-- A row is the author or performer of a linked item.
SELECT DISTINCT claim.target AS item
FROM linked JOIN wikidata.claims AS claim USING (item)
WHERE claim.property IN ('P50', 'P175')
ORDER BY item
