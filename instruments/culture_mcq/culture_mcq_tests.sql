-- Hypotheses on cultural knowledge: the study's tests, and sound ones
-- culture_mcq_tests: a row is a one-sided test of a hypothesis of the study, as the study does it ('paper') or
-- soundly ('sound'); q is the false discovery rate among the tests of its kind, model, data set, method, reader and
-- wording.
-- printed: model, dataset, answer_method, reader, prompt, question_type, hypothesis, kind, comparison, first, second,
-- first_size, second_size, test, p, q
SELECT
    model, dataset, language, answer_method, reader, prompt, question_type, hypothesis, kind, comparison, first, second,
    first_size, second_size, test, statistic, p, q, note
FROM culture_mcq_tests
ORDER BY dataset, model, answer_method, reader, prompt, question_type DESC, hypothesis, kind, comparison
