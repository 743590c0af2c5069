-- Which probes count now.

-- probe_questions: a row is an open question about a culture, as it is at present.
CREATE VIEW probe_questions AS SELECT * FROM stored_probe_questions;

-- probe_human_answers: a row is what people answered to such a question, and how many.
CREATE VIEW probe_human_answers AS
SELECT a.* FROM stored_probe_human_answers AS a SEMI JOIN probe_questions AS q ON a.question_key = q.question_key;

-- probes: a row is a question that a model of the run was probed with under one arm, in its present setup,
-- with the region and the resource level of its culture.
CREATE VIEW probes AS
SELECT s.*, q.region, q.level
FROM stored_probes AS s
SEMI JOIN run_models AS m ON s.model = m.model
INNER JOIN probe_questions AS q ON s.question_key = q.question_key
LEFT JOIN run_setups AS u ON u.use = 'patch' AND s.model = u.model
WHERE s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND s.asked_id IN (SELECT id FROM run_asked WHERE instrument = 'probe');

-- probe_readings: a row is what a model wrote with a layer's state in the place of the placeholder's.
CREATE VIEW probe_readings AS SELECT r.* FROM stored_probe_readings AS r SEMI JOIN probes AS p ON r.probe_id = p.probe_id;

-- probe_items: a row is a part of such a text: an item, or the reason why it is none.
CREATE VIEW probe_items AS SELECT i.* FROM stored_probe_items AS i SEMI JOIN probes AS p ON i.probe_id = p.probe_id;

-- probe_similarities: a row is the similarity of an item with its question, as it was computed after the last answers.
CREATE VIEW probe_similarities AS SELECT * FROM stored_probe_similarities;

-- probe_flattening: a row is a pair of cultures with its score, intervals and test, as it was computed after the last
-- answers.
CREATE VIEW probe_flattening AS
SELECT * FROM stored_probe_flattening WHERE model IN (SELECT model FROM run_models);

-- probe_links: a row is what an item of layers means in Wikidata, by the linker, or why nothing.
CREATE VIEW probe_links AS SELECT * FROM stored_probe_links;

-- probe_arms: a row is an arm beside the probe itself, under one filter, as it was computed after the last answers: how
-- much higher the probe's scores are, and whether the pairs of cultures keep their ranks.
CREATE VIEW probe_arms AS
SELECT * FROM stored_probe_arms WHERE model IN (SELECT model FROM run_models);

-- failed_probes: a row is a question that could not be probed. It is not asked again.
CREATE VIEW failed_probes AS
SELECT 'probe' AS stage, model, language, concat(dataset, '-', culture) AS topic, error, retryable
FROM probes WHERE status = 'failed';
