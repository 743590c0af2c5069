-- The metrics of each data set whose scores were imported: how they were scaled, and what is good, where a log says it.
SELECT a.topic AS dataset, r.reader AS metric, any_value(split_part(r.ground, ', ', 2)) AS scaled, any_value(d.better) AS better
FROM answers AS a
INNER JOIN answer_readings AS r USING (answer_id)
LEFT JOIN score_directions AS d ON d.what = concat_ws(' ', a.topic, r.reader)
WHERE a.method = 'scored' AND r.matched IS NOT NULL
GROUP BY ALL ORDER BY ALL
