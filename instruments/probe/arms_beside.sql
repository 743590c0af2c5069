-- Controls beside the probe: differences of F and of shares, ranks of pairs, similarity of items
-- arms_beside: a row is an arm beside the probe itself, under one filter: F and shares (means over the ordered pairs
-- of cultures) of both, the probe's less the arm's, the rank correlation of the pairs, and how similar items of both
-- are to their questions before any filter (under 'noise': irrelevant patching). Intervals are from random halves of
-- the question ids, the same for both.
--   patched_similarity: mean similarity of the probe's items with their questions
--   patched_similarity_sd: its standard deviation
--   similarity_sd: standard deviation of `similarity`
-- printed: model, dataset, language, filter, arm, patched_score, score, difference, patched_share, share,
-- share_difference, spearman, patched_similarity, similarity, questions, not_compared
-- no rows: no arm was run beside the probe: run with --control
SELECT
    a.model, a.dataset, a.language, a.filter, a.arm, a.minimum, a.questions, a.patched_score, a.score, a.difference,
    a.difference_low, a.difference_high, a.patched_share, a.share, a.share_difference, a.share_difference_low,
    a.share_difference_high, a.spearman, a.spearman_low, a.spearman_high,
    p.mean_similarity AS patched_similarity, p.sd_similarity AS patched_similarity_sd,
    s.mean_similarity AS similarity, s.sd_similarity AS similarity_sd, a.not_compared, a.no_interval
FROM probe_arms AS a
LEFT JOIN probe_similarity_of_arms AS s USING (model, dataset, language, arm)
LEFT JOIN probe_similarity_of_arms AS p
    ON p.model = a.model AND p.dataset = a.dataset AND p.language = a.language AND p.arm = 'patched'
ORDER BY a.model, a.dataset, a.language, a.filter, a.arm
