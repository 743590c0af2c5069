-- Which weights of attention count now.

-- attention: a row is how much the last token of a present question attends to one of its options, under one of the run's
-- prompts, in the model's present setup. `weight` is a mean over heads and layers, then the largest of the option's tokens.
CREATE VIEW attention AS
SELECT s.*
FROM stored_attention AS s
LEFT JOIN run_setups AS u ON u.use = 'attend' AND u.model = s.model
WHERE s.status <> 'unusable'
    AND s.asked_id IN (SELECT id FROM run_asked WHERE instrument = 'probe')
    AND s.model IN (SELECT model FROM run_models)
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND s.question_id IN (SELECT question_id FROM questions);

-- attention_tests: a row is a test of whether some options are attended to more than others, as it was computed after the
-- last weights came.
CREATE VIEW attention_tests AS
SELECT * FROM stored_attention_tests WHERE model IN (SELECT model FROM run_models);

-- failed_attention: a row is an option whose weight could not be read.
CREATE VIEW failed_attention AS
SELECT 'attention' AS stage, model, language, topic, error, retryable FROM attention WHERE status = 'failed';
