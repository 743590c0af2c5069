-- What stands beside the probes that count.

-- probe_human_answers: a row is what people answered to such a question, and how many.
CREATE VIEW probe_human_answers AS
SELECT a.* FROM stored_probe_human_answers AS a SEMI JOIN probe_questions AS q ON a.question_key = q.question_key;

-- probe_readings: a row is what a model wrote with a layer's state in the place of the placeholder's.
CREATE VIEW probe_readings AS SELECT r.* FROM stored_probe_readings AS r SEMI JOIN probes AS p ON r.probe_id = p.probe_id;

-- probe_items: a row is a part of such a text: an item, or the reason why it is none.
CREATE VIEW probe_items AS SELECT i.* FROM stored_probe_items AS i SEMI JOIN probes AS p ON i.probe_id = p.probe_id;
