-- Which answers to the survey behind KoBBQ count now.

-- bbq_survey_questions: a row is a stereotype of the survey with the people's votes.
--   groups: the answers; 'no_stereo', that there is no such stereotype, is the last
--   votes: people of a hundred that gave each of them
CREATE VIEW bbq_survey_questions AS SELECT * FROM stored_bbq_survey_questions;

-- bbq_survey_answers: a row is what a model answered to a question of the survey under one of the run's wordings, with the
-- answers in one order, in the model's present setup. It is read as its reader reads it now; what that has not read yet is as
-- it was read when it came.
--   language: of the wording; stereotypes and groups are in Korean
--   permutation: the survey's answers in the order in which they stood, from 0: '2 0 1'
--   choices: the answers as they were shown
--   reader: 'paper'
--   reading: the places of what was chosen, from 1, as '2 5'; 'out-of-choice' or 'refusal'
CREATE VIEW bbq_survey_answers AS
SELECT s.* REPLACE (
    CASE WHEN r.answer_id IS NULL THEN s.reader_id ELSE r.reader_id END AS reader_id,
    CASE WHEN r.answer_id IS NULL THEN s.reading ELSE r.reading END AS reading,
    CASE WHEN r.answer_id IS NULL THEN s.ground ELSE r.ground END AS ground,
    CASE WHEN r.answer_id IS NULL THEN s.places ELSE r.places END AS places
)
FROM stored_bbq_survey_answers AS s
LEFT JOIN run_asked AS q
    ON q.instrument = 'bbq' AND q.key = concat('reader survey ', s.reader, ' ', s.language)
LEFT JOIN stored_bbq_survey_readings AS r
    ON r.answer_id = s.answer_id AND r.reader = s.reader AND r.reader_id = q.id AND s.reader_id IS DISTINCT FROM q.id
LEFT JOIN run_setups AS u ON u.use = 'answer' AND u.model = s.model
WHERE s.status <> 'unusable'
    AND s.prompt_id IN (SELECT id FROM run_asked WHERE instrument = 'bbq')
    AND s.model IN (SELECT model FROM run_models)
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND s.survey_id IN (SELECT survey_id FROM bbq_survey_questions);

-- bbq_survey_numbers: a row is a number that holds a model's shares against the people's, as it was computed after the last
-- answers came.
--   language: of the wordings
--   part: 'overall' or 'category'
--   metric: 'correlation', 'distance' or 'no_stereotype'
--   stereotypes: stereotypes that were answered
CREATE VIEW bbq_survey_numbers AS
SELECT * FROM stored_bbq_survey_numbers WHERE model IN (SELECT model FROM run_models);

-- bought_bbq_survey_answers: a row is an answer that this run bought, whether it still counts or not.
CREATE VIEW bought_bbq_survey_answers AS
SELECT
    'bbq-survey' AS stage, model, language, category AS topic, model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_bbq_survey_answers WHERE purchase IS NOT NULL;

-- failed_bbq_survey_answers: a row is an answer that failed.
CREATE VIEW failed_bbq_survey_answers AS
SELECT 'bbq-survey' AS stage, model, language, category AS topic, error, retryable
FROM bbq_survey_answers WHERE status = 'failed';
