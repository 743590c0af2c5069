-- Which weights of attention are read now. From this and its declaration follow which rows of `attention` count.

-- wanted_attention: a row is a present question as one of the run's models reads it, under its present setup and prompt.
CREATE VIEW wanted_attention AS
SELECT w.*
FROM stored_wanted_attention AS w
SEMI JOIN questions AS q ON q.question_id = w.question_id
SEMI JOIN run_asked AS a ON a.instrument = 'probe' AND a.id = w.asked_id
SEMI JOIN run_setups AS u ON u.use = 'attend' AND u.model = w.model AND u.setup_id = w.setup_id
WHERE w.model IN (SELECT model FROM run_models);
