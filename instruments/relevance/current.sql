-- Which answers with something before the question count now.

-- relevance_contexts: a row is what stands before a question to a model under a condition, or the reason why it is not
-- asked under it, as the last command had it.
CREATE VIEW relevance_contexts AS
SELECT * FROM stored_relevance_contexts WHERE model IN (SELECT model FROM run_models);

-- relevance_answers: a row is what a model answered to a question with what some condition shows now before it, under one
-- of the run's wordings, in the model's present setup. It is read as its reader reads it now.
CREATE VIEW relevance_answers AS
SELECT s.* REPLACE (
    CASE WHEN r.answer_id IS NULL THEN s.reader_id ELSE r.reader_id END AS reader_id,
    CASE WHEN r.answer_id IS NULL THEN s.reading ELSE r.reading END AS reading,
    CASE WHEN r.answer_id IS NULL THEN s.ground ELSE r.ground END AS ground,
    CASE WHEN r.answer_id IS NULL THEN s.role ELSE r.role END AS role
)
FROM stored_relevance_answers AS s
SEMI JOIN relevance_contexts AS c
    ON (c.model, c.question_id, c.shown_id) = (s.model, s.question_id, s.shown_id)
LEFT JOIN run_asked AS q ON q.instrument = 'relevance' AND q.key = concat('reader ', s.reader)
LEFT JOIN stored_relevance_readings AS r
    ON r.answer_id = s.answer_id AND r.reader = s.reader AND r.reader_id = q.id AND s.reader_id IS DISTINCT FROM q.id
LEFT JOIN run_setups AS u
    ON u.use = CASE s.answer_method WHEN 'generated' THEN 'answer' ELSE 'score' END AND u.model = s.model
WHERE s.status <> 'unusable'
    AND s.prompt_id IN (SELECT id FROM run_asked WHERE instrument = 'relevance')
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id;

-- relevance_readings: a row is what another reader than the first one makes of an answer that counts, by its present
-- rules.
CREATE VIEW relevance_readings AS
SELECT r.*
FROM stored_relevance_readings AS r
JOIN relevance_answers AS a ON r.answer_id = a.answer_id AND r.reader <> a.reader
JOIN run_asked AS q
    ON q.instrument = 'relevance' AND q.key = concat('reader ', r.reader) AND q.id = r.reader_id;

-- relevance_intervals: a row is a share of the answers under a condition with its 95 % interval, as it was computed after
-- the last answers came.
CREATE VIEW relevance_intervals AS
SELECT * FROM stored_relevance_intervals WHERE model IN (SELECT model FROM run_models);

-- relevance_gains: a row is the accuracy under one condition less that under another, as it was computed after the last
-- answers came.
CREATE VIEW relevance_gains AS
SELECT * FROM stored_relevance_gains WHERE model IN (SELECT model FROM run_models);

-- bought_relevance_answers: a row is an answer that this run bought, whether it still counts or not.
--   asked: the model that was asked and paid
--   status: 'ok', or 'failed'
CREATE VIEW bought_relevance_answers AS
SELECT
    'relevance' AS stage, model, language, question_type AS topic, model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_relevance_answers WHERE purchase IS NOT NULL;

-- failed_relevance_answers: a row is an answer that failed.
CREATE VIEW failed_relevance_answers AS
SELECT 'relevance' AS stage, model, language, question_type AS topic, error, retryable
FROM relevance_answers WHERE status = 'failed';
