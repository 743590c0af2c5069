-- The table that `polyculture probe` prints: a row is an ordered pair of cultures under one arm and filter.
SELECT
    model, language, arm, filter, culture, toward, score AS "F",
    CASE WHEN low IS NULL THEN NULL ELSE format('{:.1f} to {:.1f}', low, high) END AS "95 %",
    share, CASE WHEN share_low IS NULL THEN NULL ELSE format('{:.2f} to {:.2f}', share_low, share_high) END AS "95 % ",
    by_chance AS "by chance", p, questions, no_interval AS "no interval"
FROM probe_flattening
WHERE dataset = $dataset AND list_contains($models, model)
ORDER BY model, language, arm, filter, culture, toward
