-- Gains in accuracy of one condition over another, paired within questions
-- relevance_gains: a row is the accuracy under one condition less that under another, paired within the questions
-- that all conditions have; q is the false discovery rate among the gains of its model, data set, method, reader and
-- wording.
-- printed: model, dataset, answer_method, reader, prompt, question_type, condition, over, accuracy, over_accuracy,
-- gain, p, q, questions, asked
-- no rows: no question was answered under all conditions: see polyculture table relevance_not_asked
SELECT
    model, dataset, answer_method, reader, prompt, question_type, condition, "over", accuracy, over_accuracy, gain, low, high,
    lacking, p, q, questions, asked
FROM relevance_gains
ORDER BY
    dataset, model, answer_method, reader, prompt, question_type DESC,
    array_position(['alone', 'culture', 'source', 'other-culture', 'no-answer'], "over"),
    array_position(['culture', 'probe', 'source', 'other-culture', 'no-answer'], condition)
