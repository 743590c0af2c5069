-- Models by task, with the ranks that are open to them
-- leaderboard: a row is a model on a board over all types, or of one type; the best first.
--   $type = NULL: a type of entities, instead of all types
--   $fewest = 2: boards of fewer models are left out
-- no rows: no two models have comparable numbers: measure the run (polyculture run --only measure), run an instrument, or ask the models the same prompts, because a model that has a number in fewer than half of the cells is not ranked
-- printed: rank, model, estimate, contexts, task, metric, dataset, setting, variant, language, culture, same_items, reason, doubt
SELECT *, CASE WHEN rank_low < rank_high THEN rank_low || '–' || rank_high ELSE rank_low::VARCHAR END AS rank
FROM leaderboard
WHERE entity_type IS NOT DISTINCT FROM $type AND models >= $fewest
ORDER BY
    task, metric, dataset, setting, variant DESC, language NULLS FIRST, culture NULLS FIRST, rank_low, rank_high,
    CASE goal WHEN 'more' THEN -estimate WHEN 'high' THEN -abs(estimate) ELSE abs(estimate) END, model
