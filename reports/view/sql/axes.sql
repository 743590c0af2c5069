-- axes: one row; what can be chosen along each axis.
SELECT
    list(DISTINCT model ORDER BY model) AS model, list(DISTINCT language ORDER BY language) AS language,
    list(DISTINCT topic ORDER BY topic) AS topic, list(DISTINCT condition ORDER BY condition) AS condition,
    list(DISTINCT country ORDER BY country) FILTER (country IS NOT NULL) AS country
FROM cells;
