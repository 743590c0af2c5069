-- axes: one row; along each axis, the codes that were asked.
SELECT
    list(DISTINCT model) AS model, list(DISTINCT language) AS language, list(DISTINCT topic) AS topic,
    list(DISTINCT condition) AS condition, list(DISTINCT country) FILTER (country IS NOT NULL) AS country
FROM cells;
