-- turning: what the rules make of the forms that the round before brought; each form is read once, for all of them. In
-- front there is a single round. $turned stands for a column per rule: its form, or nothing where it turns nothing.
INSERT INTO turning
SELECT spelling, turns + 1, turned, CASE WHEN $front THEN length(turned) ELSE letters END, $round
FROM (SELECT spelling, turns, letters, unnest([$turned]) AS turned FROM turning WHERE round = $before)
WHERE turned IS NOT NULL AND ($front OR 2 * length(turned) >= letters)
