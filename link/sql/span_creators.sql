-- A row is whoever made a work of the topic that a search returned: the mention may name both.
SELECT DISTINCT claim.target
FROM wikidata.claims AS claim
SEMI JOIN members ON members.item = claim.item
WHERE claim.property IN ('P50', 'P86', 'P170', 'P175', 'P676')
ORDER BY ALL
