-- counts_shown: the rows of `counts`, items whole, the most mentioned of every status first, at most $row_limit.
SELECT c.*
FROM counts AS c
INNER JOIN items AS i USING (item)
QUALIFY count(*) OVER (ORDER BY i.rank, c.item RANGE UNBOUNDED PRECEDING) <= $row_limit
ORDER BY c.item, c.model, c.language, c.topic, c.condition NULLS FIRST, c.country NULLS FIRST;
