-- Differences in numbers of question sets
-- question_differences: a row is a difference of two sides in one number, over other questions like these: two models
-- on the answers that both gave, two conditions on the questions that both have, two levels of a culture's
-- resources, the biased option and the others, or two sets as one model answers them. q is the false discovery rate over
-- these rows; of sets over theirs.
--   $dimension = any|model|condition|level|option|dataset: what is compared, or any
--   tipping: the smallest share of the units without which the difference is 0 or has the other sign; NULL where it is no sum
--     over units
--   facets: which level, label or type of questions
-- printed: dimension, dataset, model, a, b, metric, difference, q, verdict
-- no rows: nothing is compared: it takes two models, conditions or sets of stereotypes
SELECT
    dimension, nullif(dataset, '*') AS dataset, nullif(language, '*') AS language, nullif(model, '*') AS model,
    nullif(method, '*') AS method, nullif(reader, '*') AS reader, nullif(condition, '*') AS condition, facets, a, b, metric,
    a_estimate, b_estimate, difference, low, high, reason AS lacking, p, q, verdict, nullif(units, 0) AS units, tipping, missing_a,
    missing_b
FROM differences
WHERE measure = 'questions' AND target = 'new_prompts' AND $dimension IN ('any', dimension)
ORDER BY dimension, dataset, language, model, method, reader, condition, a, b, metric, facets::VARCHAR
