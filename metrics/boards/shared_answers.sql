-- The pairs of models of two runs that gave some of the same answers to the same requests, the later run's first.
SELECT b.run, b.model, a.run, a.model, count(DISTINCT b.answer) AS shared, any_value(s.answers)
FROM answers AS a INNER JOIN answers AS b ON a.answer = b.answer AND a.run < b.run
INNER JOIN (SELECT run, model, count(DISTINCT answer) AS answers FROM answers GROUP BY ALL) AS s
    ON b.run = s.run AND b.model = s.model
GROUP BY ALL HAVING shared > 0 ORDER BY ALL
