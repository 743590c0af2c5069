-- Which answers to multiple choice count now.

-- bbq_questions: a row is a question of a data set as it is at present.
--   context_text: the context as it is shown
--   choices: the three choices in the data set's order
CREATE VIEW bbq_questions AS SELECT * FROM stored_bbq_questions;

-- bbq_answers: a row is what a model answered to a question of the present data set under one of the run's prompts, with
-- the choices in one order, in the model's present setup. It is read as its reader reads it now; what that has not read
-- yet is as it was read when it came. Answers from a file have a model 'file:NAME' and no setup.
CREATE VIEW bbq_answers AS
SELECT s.* REPLACE (
    CASE WHEN r.answer_id IS NULL THEN s.reader_id ELSE r.reader_id END AS reader_id,
    CASE WHEN r.answer_id IS NULL THEN s.reading ELSE r.reading END AS reading,
    CASE WHEN r.answer_id IS NULL THEN s.ground ELSE r.ground END AS ground,
    CASE WHEN r.answer_id IS NULL THEN s.role ELSE r.role END AS role
)
FROM stored_bbq_answers AS s
LEFT JOIN run_asked AS q ON q.instrument = 'bbq' AND q.key = concat('reader ', s.reader, ' ', s.language)
LEFT JOIN stored_bbq_readings AS r
    ON r.answer_id = s.answer_id AND r.reader = s.reader AND r.reader_id = q.id AND s.reader_id IS DISTINCT FROM q.id
LEFT JOIN run_setups AS u
    ON u.use = CASE s.answer_method WHEN 'generated' THEN 'answer' ELSE 'score' END AND u.model = s.model
WHERE s.status <> 'unusable'
    AND s.prompt_id IN (SELECT id FROM run_asked WHERE instrument = 'bbq')
    AND (s.model LIKE 'file:%' OR s.model IN (SELECT model FROM run_models))
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND s.question_id IN (SELECT question_id FROM bbq_questions);

-- bbq_readings: a row is what another reader than the first one makes of an answer that counts, by its present rules.
CREATE VIEW bbq_readings AS
SELECT r.*
FROM stored_bbq_readings AS r
JOIN bbq_answers AS a ON r.answer_id = a.answer_id AND r.reader <> a.reader
JOIN run_asked AS q
    ON q.instrument = 'bbq' AND q.key = concat('reader ', r.reader, ' ', a.language) AND q.id = r.reader_id;

-- bbq_intervals: a row is a number of a part of the templates with its 95 % interval, as it was computed after the last
-- answers came. A prompt of NULL: the mean over prompts.
CREATE VIEW bbq_intervals AS
SELECT * FROM stored_bbq_intervals WHERE model LIKE 'file:%' OR model IN (SELECT model FROM run_models);

-- bought_bbq_answers: a row is an answer that this run bought, whether it still counts or not.
CREATE VIEW bought_bbq_answers AS
SELECT
    'bbq' AS stage, model, language, category AS topic, model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_bbq_answers WHERE purchase IS NOT NULL;

-- failed_bbq_answers: a row is an answer that failed.
CREATE VIEW failed_bbq_answers AS
SELECT 'bbq' AS stage, model, language, category AS topic, error, retryable
FROM bbq_answers WHERE status = 'failed';
