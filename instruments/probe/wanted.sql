-- What is probed now. From this and its declaration follow which rows of `probes` count.

-- probed_questions: a row is one of `wanted_probes`, which is a question as a model is probed with it under one arm, with what
-- is known of the question.
--   region: the culture's region; NULL: not known
--   level: the culture's resource level; NULL: not known
CREATE VIEW probed_questions AS
SELECT
    w.request_id, w.question_key, w.model, w.arm, q.dataset, q.language, q.culture, q.question_id, q.region, q.level
FROM wanted_probes AS w
INNER JOIN probe_questions AS q USING (question_key);
