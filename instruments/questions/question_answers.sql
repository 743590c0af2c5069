-- Answers to question sets, as readers read them
-- question_answers: a row is an answer as one reader reads it, with its question.
--   question: the publisher's id
--   shown: the options as they were shown, in their order
--   answer: what the model wrote, its first 300 characters; of likelihoods empty
--   read_as: the option that is read
--   outcome: 'picked', 'read' (of open questions: a text), 'refusal', 'tie', 'unread' (nothing is read otherwise), or 'failed'
-- printed: model, reader, prompt, question, answer, read_as, role, right, outcome
-- no rows: no question was asked: `polyculture ask SET --model MODEL` asks
SELECT
    r.dataset, r.language, r.model, r.method, r.reader, r.wording AS prompt, r.name AS question, q.context, q.text, a.shown,
    left(a.raw, 300) AS answer, q.options[r.picked + 1] AS read_as, r.role, r."right", r.outcome, r.ground, r.matched,
    a.scores, a.error
FROM question_readings AS r
INNER JOIN answers AS a USING (answer_id)
INNER JOIN questions AS q ON q.question_id = r.question_id
ORDER BY r.dataset, r.language, r.model, r.method, r.reader, r.wording, r.name, a."order", r.sample
