-- leaderboard: a row is a model on a board over all types, the best first; boards of a single model are left out.
SELECT *
FROM leaderboard
WHERE entity_type IS NULL AND models > 1
ORDER BY
    task, metric, dataset, setting, variant DESC, language NULLS FIRST, culture NULLS FIRST, rank_low, rank_high,
    abs(estimate) * CASE goal WHEN 'high' THEN -1 ELSE 1 END, model
