-- Attention (z) to some options against others
-- attention_tests: a row compares the attention (z) to some options of questions with that to others, in right or in
-- wrong answers, of all targets or of those of a level or region (`target`; Tables 10 and 11 of CultureScope): paired over
-- units, with its interval and false discovery rate, and the p of the study's own test beside it (D.2).
--   target: the level or region of the targets; '' of all
--   answers: 'right' or 'wrong'
--   first: mean z of the options `a`
--   second: mean z of the options `b`
--   study_p: the p of Student's t-test over options, which takes the z scores of a question for independent; of a target
-- no rows: no attention stands beside a generated answer that names an option: ask the same questions by both, `polyculture ask SET --method generated --method attention`
-- printed: model, dataset, reader, prompt, type, target, answers, a, b, first, second, difference, q, study_p
WITH tests AS (
    SELECT
        model, dataset, language, reader, wording, condition, facets['type'] AS type,
        coalesce(facets['level'], facets['region']) AS target, facets['other'] AS b, estimate AS study_p
    FROM numbers
    WHERE measure = 'attention' AND metric = 'contribution_p'
)
SELECT
    d.model, d.dataset, d.language, d.reader, d.wording AS prompt, coalesce(d.facets['type'], '') AS type,
    coalesce(d.facets['level'], d.facets['region'], '') AS target, d.condition AS answers, d.a, d.b, d.a_estimate AS first,
    d.b_estimate AS second, d.difference, d.low, d.high, d.reason AS lacking, d.p, d.q, d.units, t.study_p
FROM differences AS d
LEFT JOIN tests AS t
    ON (t.model, t.dataset, t.language, t.reader, t.wording, t.condition, t.target, t.b)
        = (d.model, d.dataset, d.language, d.reader, d.wording, d.condition, d.a, d.b)
    AND t.type IS NOT DISTINCT FROM d.facets['type']
WHERE d.measure = 'attention' AND d.target = 'new_prompts'
ORDER BY d.dataset, d.model, d.reader, d.wording, type DESC, target, answers, d.a, d.b
