-- Letters of answers
-- letters: a row is a model.
--   answers: answers of the model
SELECT model, count(*) AS answers, avg(letters) AS letters FROM toy_lengths GROUP BY ALL ORDER BY ALL
