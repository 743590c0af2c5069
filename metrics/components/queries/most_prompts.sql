-- The row: the first of $conditions with values of a metric, and the mean number of responses behind each; where none of
-- them has any, the condition with the most.
SELECT condition, avg(responses) AS responses
FROM prompt_values
WHERE metric = $metric AND estimate IS NOT NULL
GROUP BY condition
ORDER BY coalesce(list_position($conditions, condition), 99), count(*) DESC, condition
LIMIT 1;
