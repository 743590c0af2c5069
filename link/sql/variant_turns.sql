-- turning: also what the rules make of the forms there. {turned} stands for a call of regexp_replace per rule.
INSERT INTO turning
SELECT lookup, fold, turns + 1, turned, CASE WHEN $front THEN length(turned) ELSE letters END
FROM (
    SELECT lookup, fold, turns, key, letters, unnest([{turned}]) AS turned
    FROM turning
)
WHERE turned <> key AND ($front OR 2 * length(turned) >= letters);
