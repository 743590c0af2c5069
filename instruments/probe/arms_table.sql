-- The second table that `polyculture probe` prints: a row is an arm under one filter, beside the probe itself.
SELECT
    a.model, a.language, a.arm, a.filter, a.score AS "F of the arm", a.patched_score AS "F of the probe", a.difference,
    CASE WHEN a.difference_low IS NULL THEN NULL
        ELSE format('{:.1f} to {:.1f}', a.difference_low, a.difference_high) END AS "95 %",
    a.share_difference AS "of shares",
    CASE WHEN a.share_difference_low IS NULL THEN NULL
        ELSE format('{:.2f} to {:.2f}', a.share_difference_low, a.share_difference_high) END AS "95 % ",
    a.spearman AS "Spearman of pairs",
    CASE WHEN a.spearman_low IS NULL THEN NULL
        ELSE format('{:.2f} to {:.2f}', a.spearman_low, a.spearman_high) END AS "95 %  ",
    CASE WHEN s.mean_similarity IS NULL THEN NULL
        ELSE format('{:.3f} ± {:.3f}', s.mean_similarity, s.sd_similarity) END AS "similarity of items",
    CASE WHEN p.mean_similarity IS NULL THEN NULL
        ELSE format('{:.3f} ± {:.3f}', p.mean_similarity, p.sd_similarity) END AS "of the probe's",
    coalesce(a.not_compared, a.no_interval) AS "missing"
FROM probe_arms AS a
LEFT JOIN probe_similarity_of_arms AS s USING (model, dataset, language, arm)
LEFT JOIN probe_similarity_of_arms AS p
    ON p.model = a.model AND p.dataset = a.dataset AND p.language = a.language AND p.arm = 'patched'
WHERE a.dataset = $dataset AND list_contains($models, a.model)
ORDER BY a.model, a.language, a.filter, a.arm
