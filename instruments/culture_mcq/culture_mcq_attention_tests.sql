-- Attention (z) to some options against others
-- culture_mcq_attention_tests: a row compares the attention (z) to some options of questions with that to others, in
-- right or in wrong answers, as the study does ('paper') or paired over questions ('sound'); q is the false discovery
-- rate among the tests of its kind.
-- no rows: no answer names an option of a question whose attention was read
-- printed: model, dataset, answer_method, reader, prompt, question_type, measure, answers, comparison, kind, first,
-- second, first_size, second_size, difference, p, q
SELECT
    model, dataset, language, answer_method, reader, prompt, question_type, measure, answers, comparison, kind, test, first,
    second, first_size, second_size, first - second AS difference, low, high, statistic, p, q, note
FROM culture_mcq_attention_tests
ORDER BY
    dataset, model, answer_method, reader, prompt, question_type DESC, measure DESC, answers, comparison, kind
