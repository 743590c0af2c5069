-- A row is what a model answered of a set by one method, over conditions and types of questions: see `question_answered`.
SELECT
    dataset, language, method, model, sum(questions)::BIGINT AS questions, sum(of_set)::BIGINT AS of_set,
    sum(shared)::BIGINT AS shared, bool_or(differs) AS differs
FROM question_answered
GROUP BY ALL
ORDER BY ALL
