-- What is probed now. From this and its declaration follow which rows of `probes` count.

-- probe_questions: a row is an open question about a culture, as it is at present.
CREATE VIEW probe_questions AS SELECT * FROM stored_probe_questions;

-- wanted_probes: a row is a present question as one of the run's models is probed with it under one arm, by its present
-- setup and the present rules.
--   region: the culture's region; NULL: not known
--   level: the culture's resource level; NULL: not known
CREATE VIEW wanted_probes AS
SELECT
    w.request_id, w.question_key, w.model, w.arm, q.dataset, q.language, q.culture, q.question_id, q.region, q.level
FROM stored_wanted_probes AS w
INNER JOIN probe_questions AS q USING (question_key)
SEMI JOIN run_asked AS a ON a.instrument = 'probe' AND a.id = w.asked_id
SEMI JOIN run_setups AS u ON u.use = 'patch' AND u.model = w.model AND u.setup_id = w.setup_id
WHERE w.model IN (SELECT model FROM run_models);
