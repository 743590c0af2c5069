-- CultureScope's hypotheses: the study's tests
-- question_tests: a row is a one-sided test of a hypothesis, as the study does it: a z-test, pooled, of a part against all. q
-- is the false discovery rate among the tests of its model, set, method, reader and prompt. The same with intervals over
-- questions is in `question_differences`, dimensions 'level' and 'option'.
--   prompt: its name
--   type: where the wrong options are from: 'resource' or 'region'
--   hypothesis: '1' accuracy is higher with more resources, '2' wrong answers name the biased option, '3' it is chosen
--     more often with fewer resources
--   side: what is compared: 'avg.' are all targets
--   first: answers of the first group
--   second: answers of the second group
--   no_p: why the test has no p: no answer differs, or fewer than half of the answers of a group are read
-- printed: dataset, model, reader, prompt, type, hypothesis, side, p, q, no_p
-- no rows: no set has this test: `polyculture ask culture-mcq --model MODEL` asks one
SELECT
    dataset, language, model, method, reader, wording AS prompt, facets['type'] AS type, facets['hypothesis'] AS hypothesis,
    facets['side'] AS side, max(estimate) FILTER (ends_with(metric, '_p')) AS p,
    max(estimate) FILTER (ends_with(metric, '_q')) AS q, any_value(sizes['first']) AS first,
    any_value(sizes['second']) AS second, any_value(no_estimate) AS no_p
FROM numbers
WHERE measure = 'questions' AND facets['test'] IS NOT NULL
GROUP BY ALL
ORDER BY dataset, language, model, method, reader, prompt, type, hypothesis, side
