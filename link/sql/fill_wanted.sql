-- A row is an item that the snapshot needs and does not hold: what searches found; all classes above it; and the states of
-- today and before that any of it is of. What else countries rest on is in `origin_sources.sql`.
WITH RECURSIVE above AS (
    FROM found
    UNION
    SELECT claim.target AS item
    FROM above JOIN wikidata.claims AS claim USING (item)
    WHERE claim.property IN ('P31', 'P279', 'P361', 'P106')
)
SELECT DISTINCT item
FROM (
    FROM above
    UNION ALL
    SELECT target AS item FROM wikidata.claims WHERE target IN (SELECT item FROM states)
)
ANTI JOIN wikidata.items USING (item)
ORDER BY item
