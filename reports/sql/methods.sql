-- methods: a row is a way in which the intervals of a metric were computed.
SELECT metric, method, count(*) AS intervals FROM intervals GROUP BY ALL ORDER BY ALL;
