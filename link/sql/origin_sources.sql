-- A row is an item that the countries of `linked` rest on and that is not there yet: makers, what says the origin, and what is
-- above it. Places of birth are needed of persons alone whose citizenship leaves their country open: none is stated, or
-- any is of a state that has several heirs or that no table names.
WITH RECURSIVE makers AS (
    SELECT claim.target AS item
    FROM linked JOIN wikidata.claims AS claim USING (item)
    WHERE claim.property IN ('P50', 'P86', 'P170', 'P175')
),
about AS (
    SELECT item FROM linked UNION SELECT item FROM makers
),
settled AS (
    SELECT claim.item
    FROM about JOIN wikidata.claims AS claim USING (item)
    LEFT JOIN states ON states.item = claim.target
    WHERE claim.property = 'P27'
    GROUP BY claim.item
    HAVING count(*) = count(states.item)
),
needed(item, steps) AS (
    SELECT claim.target, 0
    FROM about JOIN wikidata.claims AS claim USING (item)
    WHERE claim.property IN ('P495', 'P2012', 'P2596', 'P361', 'P27', 'P1071', 'P17', 'P276')
       OR (claim.property = 'P19' AND claim.item NOT IN (FROM settled))
    UNION
    SELECT claim.target, needed.steps + 1
    FROM needed JOIN wikidata.claims AS claim USING (item)
    WHERE needed.steps < 8 AND claim.property IN ('P17', 'P131', 'P495', 'P1366', 'P361', 'P279')
      AND (claim.property NOT IN ('P361', 'P279') OR needed.item IN (
          SELECT item FROM wikidata.claims WHERE property = 'P31' AND target IN (1778821, 1968435)
      ))
      AND needed.item NOT IN (SELECT item FROM states) AND needed.item NOT IN (SELECT item FROM divided)
)
SELECT DISTINCT item
FROM (SELECT item FROM makers UNION SELECT item FROM needed)
WHERE item NOT IN (SELECT item FROM wikidata.items)
  AND item NOT IN (SELECT item FROM states) AND item NOT IN (SELECT item FROM divided)
ORDER BY item
