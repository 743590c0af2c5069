-- A row is an item that the countries of `linked` rest on and that is not there yet: makers, what says the origin, and what is
-- above it. A maker's place of birth may decide between the heirs of the work's state: it is needed beside any citizenship.
WITH RECURSIVE makers AS (
    SELECT claim.target AS item
    FROM linked JOIN draft.claims AS claim USING (item)
    WHERE claim.property IN ('P50', 'P86', 'P170', 'P175')
),
needed(item, steps) AS (
    SELECT claim.target, 0
    FROM (SELECT item FROM linked UNION SELECT item FROM makers) JOIN draft.claims AS claim USING (item)
    WHERE claim.property IN ('P495', 'P2012', 'P2596', 'P361', 'P27', 'P19', 'P1071', 'P17', 'P276')
    UNION
    SELECT claim.target, needed.steps + 1
    FROM needed JOIN draft.claims AS claim USING (item)
    WHERE needed.steps < 8 AND claim.property IN ('P17', 'P131', 'P495', 'P1366', 'P361', 'P279')
      AND (claim.property NOT IN ('P361', 'P279') OR needed.item IN (
          SELECT item FROM draft.claims WHERE property = 'P31' AND target IN (1778821, 1968435)
      ))
      AND needed.item NOT IN (SELECT item FROM states)
)
SELECT DISTINCT item
FROM (SELECT item FROM makers UNION SELECT item FROM needed)
WHERE item NOT IN (SELECT item FROM draft.items UNION ALL SELECT item FROM states)
ORDER BY item
