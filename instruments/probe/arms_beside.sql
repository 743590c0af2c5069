-- Controls beside the probe: F, its share, similarity of items
-- arms_beside: a row is a number of the probe beside that of a control, on the questions that were asked of both: F and its
-- share as means over the ordered pairs of cultures, the similarity of items with their questions before any filter (under
-- 'noise': irrelevant patching). Intervals are over questions.
--   patched: the probe's own number
--   control: that of the arm
--   difference: the first less the second
-- printed: model, dataset, language, filter, arm, metric, patched, control, difference, units
-- no rows: no number of the probe stands beside that of a control: run it with --control, on questions about three cultures or more whose items are kept under both
SELECT
    model, dataset, language, method AS filter, b AS arm, metric, a_estimate AS patched, b_estimate AS control, difference,
    low, high, reason AS lacking, q, units
FROM differences
WHERE measure = 'probe' AND dimension = 'condition' AND target = 'new_prompts'
ORDER BY model, dataset, language, filter, arm, metric
