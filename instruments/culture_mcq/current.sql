-- Which answers to questions about cultures count now.

-- culture_mcq_questions: a row is a question of a data set as it is at present.
CREATE VIEW culture_mcq_questions AS SELECT * FROM stored_culture_mcq_questions;

-- culture_mcq_answers: a row is what a model answered to a question of the present data set under one of the run's
-- wordings, in the model's present setup. It is read as its reader reads it now; what that has not read yet is as it was
-- read when it came.
CREATE VIEW culture_mcq_answers AS
SELECT s.* REPLACE (
    CASE WHEN r.answer_id IS NULL THEN s.reader_id ELSE r.reader_id END AS reader_id,
    CASE WHEN r.answer_id IS NULL THEN s.reading ELSE r.reading END AS reading,
    CASE WHEN r.answer_id IS NULL THEN s.ground ELSE r.ground END AS ground,
    CASE WHEN r.answer_id IS NULL THEN s.role ELSE r.role END AS role
)
FROM stored_culture_mcq_answers AS s
LEFT JOIN run_asked AS q ON q.instrument = 'culture_mcq' AND q.key = concat('reader ', s.reader)
LEFT JOIN stored_culture_mcq_readings AS r
    ON r.answer_id = s.answer_id AND r.reader = s.reader AND r.reader_id = q.id AND s.reader_id IS DISTINCT FROM q.id
LEFT JOIN run_setups AS u
    ON u.use = CASE s.answer_method WHEN 'generated' THEN 'answer' ELSE 'score' END AND u.model = s.model
WHERE s.status <> 'unusable'
    AND s.prompt_id IN (SELECT id FROM run_asked WHERE instrument = 'culture_mcq')
    AND s.model IN (SELECT model FROM run_models)
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND s.question_id IN (SELECT question_id FROM culture_mcq_questions);

-- culture_mcq_readings: a row is what another reader than the first one makes of an answer that counts, by its present
-- rules.
--   reading: '1' to '4' as the options were shown, 'out-of-choice' or 'refusal'
--   ground: why it is read so
--   role: of the option that was read: 'right', 'biased' or 'other'; NULL where none was
--   answer_id: the answer in `culture_mcq_answers`
CREATE VIEW culture_mcq_readings AS
SELECT r.*
FROM stored_culture_mcq_readings AS r
JOIN culture_mcq_answers AS a ON r.answer_id = a.answer_id AND r.reader <> a.reader
JOIN run_asked AS q
    ON q.instrument = 'culture_mcq' AND q.key = concat('reader ', r.reader) AND q.id = r.reader_id;

-- culture_mcq_intervals: a row is a share of the answers of a part of the questions with its 95 % interval, as it was
-- computed after the last answers came.
CREATE VIEW culture_mcq_intervals AS
SELECT * FROM stored_culture_mcq_intervals WHERE model IN (SELECT model FROM run_models);

-- culture_mcq_tests: a row is a one-sided test of a hypothesis, as it was computed after the last answers came.
CREATE VIEW culture_mcq_tests AS
SELECT * FROM stored_culture_mcq_tests WHERE model IN (SELECT model FROM run_models);

-- bought_culture_mcq_answers: a row is an answer that this run bought, whether it still counts or not.
CREATE VIEW bought_culture_mcq_answers AS
SELECT
    'culture-mcq' AS stage, model, language, question_type AS topic, model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_culture_mcq_answers WHERE purchase IS NOT NULL;

-- failed_culture_mcq_answers: a row is an answer that failed.
CREATE VIEW failed_culture_mcq_answers AS
SELECT 'culture-mcq' AS stage, model, language, question_type AS topic, error, retryable
FROM culture_mcq_answers WHERE status = 'failed';
