-- What `polyculture leaderboard` writes: a row is a model on a board, boards by their names, the best model first.
SELECT *
FROM leaderboard
WHERE ($task IS NULL OR task = $task)
    AND ($language IS NULL OR language = $language)
    AND entity_type IS NOT DISTINCT FROM $type
ORDER BY
    task, metric, dataset, language NULLS LAST, culture NULLS LAST, setting, variant DESC, rank_low, rank_high,
    abs(estimate) * CASE goal WHEN 'high' THEN -1 ELSE 1 END, model
