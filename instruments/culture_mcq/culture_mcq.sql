-- Cultural knowledge by multiple choice, as shares of the answers
-- culture_mcq: a row is the shares of all questions of a type, of a level, of a target, or of those of which
-- annotators did or did not give a wrong option, too, as a model answers them by a reader; with 95 % intervals over
-- questions of BLEnD. Others are halved: accuracy + biased + 2 others + refusal + out_of_choice = 1.
-- printed: model, dataset, answer_method, reader, prompt, question_type, part, name, answered, failed, accuracy,
-- biased, others, refusal, out_of_choice
WITH limits AS (
    SELECT
        model, dataset, language, answer_method, reader, prompt, question_type, part, name,
        max(low) FILTER (metric = 'accuracy') AS accuracy_low, max(high) FILTER (metric = 'accuracy') AS accuracy_high,
        max(low) FILTER (metric = 'biased') AS biased_low, max(high) FILTER (metric = 'biased') AS biased_high,
        max(low) FILTER (metric = 'others') AS others_low, max(high) FILTER (metric = 'others') AS others_high,
        max(low) FILTER (metric = 'refusal') AS refusal_low, max(high) FILTER (metric = 'refusal') AS refusal_high,
        max(low) FILTER (metric = 'out_of_choice') AS out_of_choice_low,
        max(high) FILTER (metric = 'out_of_choice') AS out_of_choice_high
    FROM culture_mcq_intervals
    GROUP BY ALL
)
SELECT
    m.model, m.dataset, m.language, m.answer_method, m.reader, m.prompt, m.question_type, m.part, m.name, m.questions,
    m.answered, m.failed, m.accuracy, l.accuracy_low, l.accuracy_high, m.biased, l.biased_low, l.biased_high, m.others,
    l.others_low, l.others_high, m.refusal, l.refusal_low, l.refusal_high, m.out_of_choice, l.out_of_choice_low,
    l.out_of_choice_high, m.n_refused, m.n_out
FROM culture_mcq_metrics AS m
LEFT JOIN limits AS l
    ON (l.model, l.dataset, l.language, l.answer_method, l.reader, l.prompt, l.question_type, l.part)
        = (m.model, m.dataset, m.language, m.answer_method, m.reader, m.prompt, m.question_type, m.part)
    AND l.name IS NOT DISTINCT FROM m.name
ORDER BY
    m.dataset, m.model, m.answer_method, m.reader, m.prompt, m.question_type DESC,
    array_position(['overall', 'level', 'also given', 'target'], m.part), m.name
