-- The readers of each set: the hash of their rules. Of imported scores these are metrics: how they were scaled, and what is
-- good, where a log says it.
SELECT
    q.set AS dataset, a.method = 'scored' AS scored, r.reader, any_value(r.reader_id) AS rules,
    any_value(if(scored, split_part(r.ground, ', ', 2), '')) AS scaled, any_value(d.better) AS better
FROM read_answers AS a
INNER JOIN questions AS q USING (question_id)
INNER JOIN answer_readings AS r USING (answer_id)
LEFT JOIN score_directions AS d ON d.what = concat_ws(' ', q.set, r.reader)
WHERE NOT scored OR r.matched IS NOT NULL
GROUP BY ALL ORDER BY ALL
