-- A row is a class asked for of which no item is an instance, a subclass or a part.
SELECT DISTINCT asked.qid
FROM asked_classes AS asked
ANTI JOIN (SELECT target FROM wikidata.claims WHERE property IN ('P31', 'P279', 'P361')) AS claim
    ON claim.target = asked.item
ORDER BY asked.qid
