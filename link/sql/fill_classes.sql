-- A row is an item that decides whether what was found belongs to a topic, and that is not held: all classes above it; and what
-- was found of which nothing else is known.
WITH RECURSIVE above AS (
    SELECT claim.target AS item
    FROM found JOIN wikidata.claims AS claim USING (item)
    WHERE claim.property IN ('P31', 'P279', 'P361', 'P106')
    UNION
    SELECT claim.target
    FROM above JOIN draft.claims AS claim USING (item)
    WHERE claim.property IN ('P31', 'P279', 'P361', 'P106')
)
SELECT DISTINCT item
FROM (FROM above UNION ALL FROM found ANTI JOIN draft.bearers USING (item))
ANTI JOIN draft.items USING (item)
