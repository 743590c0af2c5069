-- A row is a wanted class without any instance, subclass or part.
SELECT DISTINCT wanted.qid
FROM wanted_classes AS wanted
ANTI JOIN (SELECT target FROM wikidata.claims WHERE property IN ('P31', 'P279', 'P361')) AS claim
    ON claim.target = wanted.item
ORDER BY wanted.qid
