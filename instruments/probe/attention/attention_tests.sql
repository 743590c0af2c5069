-- Attention (z) to some options against others
-- attention_tests: a row compares the attention (z) to some options of questions with that to others, in right or in
-- wrong answers, of all targets or of those of a level or region (`target`; Tables 10 and 11 of CultureScope), as that
-- study does ('paper') or paired over units ('sound'); q is the false discovery rate among the tests of its kind.
-- no rows: no answer names an option of a question whose attention was read
-- printed: model, dataset, method, reader, prompt, type, measure, target, answers, comparison, kind, first, second,
-- first_size, second_size, difference, p, q
SELECT
    model, dataset, language, method, reader, prompt, type, measure, target, answers, comparison, kind, test, first, second,
    first_size, second_size, first - second AS difference, low, high, statistic, p, q, note
FROM attention_tests
ORDER BY dataset, model, method, reader, prompt, type DESC, measure DESC, target, answers, comparison, kind
