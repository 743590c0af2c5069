-- A row is what one rule makes of a form in `turning` that the round before brought. In front there is a single round.
SELECT spelling, turns + 1, turned, CASE WHEN $front THEN length(turned) ELSE letters END, $round
FROM (
    SELECT *, regexp_replace(key, $pattern, $other, 'g') AS turned
    FROM turning
    WHERE round = $before
)
WHERE turned <> key AND ($front OR 2 * length(turned) >= letters)
