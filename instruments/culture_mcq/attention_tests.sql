-- The tests of attention that `polyculture culture-mcq` prints: a row compares the z scores of some options with those of
-- others, in right or in wrong answers, two-sided; q is the false discovery rate among the tests of its kind.
SELECT
    model, answer_method AS method, reader, prompt, question_type AS type, measure, answers, comparison, kind,
    round(first, 3) AS first, round(second, 3) AS second, first_size AS n, second_size AS "n ",
    CASE WHEN low IS NOT NULL THEN format('{:.3f} to {:.3f}', low, high) END AS "95 %",
    format('{:.4g}', p) AS p, format('{:.4g}', q) AS q
FROM culture_mcq_attention_tests
WHERE dataset = $dataset AND list_contains($models, model)
ORDER BY model, method, reader, prompt, type DESC, measure DESC, answers, comparison, kind
