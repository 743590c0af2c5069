-- What is asked now of question sets. From this and its declaration follow which rows of `answers` count.

-- questions: a row is a question of a set as its files are at present.
CREATE VIEW questions AS SELECT * FROM stored_questions;

-- wanted_answers: a row is a request about a present question as one of the run's models is asked it, under its present
-- setup and a present prompt. Imported answers have no setup.
CREATE VIEW wanted_answers AS
SELECT w.*
FROM stored_wanted_answers AS w
SEMI JOIN stored_questions AS q ON q.question_id = w.question_id
SEMI JOIN run_asked AS a ON a.instrument = 'questions' AND a.id = w.asked_id
WHERE w.model IN (SELECT model FROM run_models)
    AND (
        w.setup_id IS NULL
        OR (w.use, w.model, w.setup_id) IN (SELECT (use, model, setup_id) FROM run_setups)
    );
