-- inflections: apply the rules to the forms of the previous round; each form is read once for all rules. The rules for
-- beginnings ($front) have one round. $inflected is replaced by a column per rule: the new form, or
-- NULL, and whether the rule turns the word.
INSERT INTO inflections
SELECT spelling, rule_count + 1, inflected.key, CASE WHEN $front THEN length(inflected.key) ELSE letters END, $round, turned OR inflected.turned
FROM (SELECT spelling, rule_count, letters, turned, unnest([$inflected]) AS inflected FROM inflections WHERE round = $before)
WHERE inflected.key IS NOT NULL AND ($front OR 2 * length(inflected.key) >= letters)
