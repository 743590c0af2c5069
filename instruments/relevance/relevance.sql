-- Multiple choice by what stands before the question, over the questions that all conditions have
-- relevance: a row is the shares of answers under a condition, over the questions that all conditions have, with 95 %
-- intervals over questions of BLEnD; and how many questions the condition has of its own. Others are halved.
-- printed: model, dataset, answer_method, reader, prompt, question_type, condition, asked, questions, accuracy,
-- biased, others, refusal, out_of_choice, mean_concepts, gives_away, own_asked, own_accuracy, failed
--   own_asked: questions that this condition has, also where others lack them
--   own_accuracy: accuracy over these, 0 to 1
-- no rows: no question was answered under all conditions: see polyculture table relevance_not_asked
WITH limits AS (
    SELECT
        model, dataset, answer_method, reader, prompt, question_type, condition,
        max(low) FILTER (metric = 'accuracy') AS accuracy_low, max(high) FILTER (metric = 'accuracy') AS accuracy_high,
        max(low) FILTER (metric = 'biased') AS biased_low, max(high) FILTER (metric = 'biased') AS biased_high,
        max(low) FILTER (metric = 'others') AS others_low, max(high) FILTER (metric = 'others') AS others_high
    FROM relevance_intervals
    GROUP BY ALL
)
SELECT
    m.model, m.dataset, m.answer_method, m.reader, m.prompt, m.question_type, m.condition, m.asked, m.questions, m.accuracy,
    l.accuracy_low, l.accuracy_high, m.biased, l.biased_low, l.biased_high, m.others, l.others_low, l.others_high,
    m.refusal, m.out_of_choice, m.mean_concepts, m.gives_away, o.asked AS own_asked, o.accuracy AS own_accuracy, o.failed
FROM relevance_metrics AS m
INNER JOIN relevance_metrics AS o
    ON (o.model, o.dataset, o.answer_method, o.reader, o.prompt, o.question_type, o.condition, o.basis)
        = (m.model, m.dataset, m.answer_method, m.reader, m.prompt, m.question_type, m.condition, 'own')
LEFT JOIN limits AS l
    ON (l.model, l.dataset, l.answer_method, l.reader, l.prompt, l.question_type, l.condition)
        = (m.model, m.dataset, m.answer_method, m.reader, m.prompt, m.question_type, m.condition)
WHERE m.basis = 'shared'
ORDER BY
    m.dataset, m.model, m.answer_method, m.reader, m.prompt, m.question_type DESC,
    array_position(['alone', 'culture', 'probe', 'source', 'other-culture', 'no-answer'], m.condition)
