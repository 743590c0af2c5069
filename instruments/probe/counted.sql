-- What stands beside the probes that count.

-- probe_human_answers: a row is what people answered to such a question, and how many.
CREATE VIEW probe_human_answers AS
SELECT a.* FROM stored_probe_human_answers AS a SEMI JOIN probe_questions AS q ON a.question_key = q.question_key;

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
--   item: as models write it most often; what was looked up
CREATE VIEW probe_links AS SELECT * FROM stored_probe_links;

-- probe_arms: a row is an arm beside the probe itself, under one filter, as it was computed after the last answers: how
-- much higher the probe's scores are, and whether the pairs of cultures keep their ranks.
--   score: the mean of the arm's scores over the ordered pairs
--   share: the mean of the arm's shares
--   difference: F(patched) - F(arm), as means over the ordered pairs of cultures
--   difference_low: 95 % interval over questions, drawn jointly for both
--   difference_high: as `difference_low`
--   share_difference: the same of the shares
--   share_difference_low: as `difference_low`
--   share_difference_high: as `difference_low`
--   patched_score: the mean of the probe's own scores
--   patched_share: the mean of the probe's own shares
--   spearman: rank correlation of the pairs' scores with those of the probe itself
--   spearman_low: as `difference_low`
--   spearman_high: as `difference_low`
CREATE VIEW probe_arms AS
SELECT * FROM stored_probe_arms WHERE model IN (SELECT model FROM run_models);
