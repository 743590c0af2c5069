-- methods: a row is a way in which the intervals of a metric were computed.
-- The mean over a single wording is the number of its cell, and counts once.
SELECT metric, method_of_interval AS method, count(*) AS intervals
FROM numbers
WHERE measure = 'entities' AND method_of_interval IS NOT NULL
    AND (cells + missing > 1 OR level NOT LIKE '%topic, condition, country')
GROUP BY ALL
ORDER BY ALL;
