-- inflections: apply the rules to the forms of the previous round; each form is read once for all rules. The rules for
-- beginnings ($front) have one round. $inflected is replaced by a column per rule: the new form, or NULL.
INSERT INTO inflections
SELECT spelling, rule_count + 1, inflected, CASE WHEN $front THEN length(inflected) ELSE letters END, $round
FROM (SELECT spelling, rule_count, letters, unnest([$inflected]) AS inflected FROM inflections WHERE round = $before)
WHERE inflected IS NOT NULL AND ($front OR 2 * length(inflected) >= letters)
