-- The tests of attention that `polyculture culture-mcq` prints: a row compares the z scores of the chosen options with those
-- of the rest, in right or in wrong answers, two-sided; q is the false discovery rate among the tests of its kind. Those of
-- right and of biased options stand in `culture_mcq_attention_tests`.
SELECT
    model, answer_method AS method, reader, prompt, question_type AS type, measure, answers, kind,
    round(first, 3) AS first, round(second, 3) AS second, first_size AS n, second_size AS "n ",
    CASE WHEN low IS NOT NULL THEN format('{:.3f} to {:.3f}', low, high) END AS "95 %",
    format('{:.4g}', p) AS p, format('{:.4g}', q) AS q
FROM culture_mcq_attention_tests
WHERE dataset = $dataset AND list_contains($models, model) AND comparison = 'chosen against the rest'
ORDER BY model, method, reader, prompt, type DESC, measure DESC, answers, comparison, kind
