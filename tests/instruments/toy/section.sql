SELECT model, count(*) AS answers, avg(letters) AS letters FROM toy_lengths GROUP BY ALL ORDER BY ALL
