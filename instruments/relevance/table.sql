-- The table that `polyculture relevance` prints: a row is a condition, over the questions that all conditions have.
SELECT
    m.model, m.answer_method AS method, m.reader, m.prompt, m.question_type AS type, m.condition, m.asked AS questions,
    round(m.accuracy, 3) AS accuracy,
    CASE WHEN i.low IS NOT NULL THEN format('{:.3f} to {:.3f}', i.low, i.high) ELSE i.lacking END AS "95 %",
    round(m.biased, 3) AS biased, round(m.others, 3) AS others, round(m.refusal, 3) AS refusal,
    round(m.out_of_choice, 3) AS "out of choice", round(m.mean_concepts, 1) AS concepts,
    round(m.gives_away, 3) AS "gives it away", o.asked AS "of its own", o.failed
FROM relevance_metrics AS m
INNER JOIN relevance_metrics AS o
    ON (o.model, o.dataset, o.answer_method, o.reader, o.prompt, o.question_type, o.condition, o.basis)
        = (m.model, m.dataset, m.answer_method, m.reader, m.prompt, m.question_type, m.condition, 'own')
LEFT JOIN relevance_intervals AS i
    ON (i.model, i.dataset, i.answer_method, i.reader, i.prompt, i.question_type, i.condition, i.metric)
        = (m.model, m.dataset, m.answer_method, m.reader, m.prompt, m.question_type, m.condition, 'accuracy')
WHERE m.basis = 'shared' AND m.dataset = $dataset AND list_contains($models, m.model)
ORDER BY
    m.model, method, m.reader, m.prompt, type DESC,
    array_position(['alone', 'culture', 'probe', 'source', 'other-culture', 'no-answer'], m.condition)
