-- The other tables of every run, what was paid for, and what failed.

-- models: a row is a model of the run, and what the experiment file says of it.
CREATE VIEW models AS
SELECT m.model, f.origin, f.parameters, f.size, f.open
FROM run_models AS m
LEFT JOIN run_model_facts AS f USING (model);

-- numbers: a row is a number with its 95 % intervals, or the reason why it has none, as the measure computed it last. A
-- number of other data than the run's present data is not shown: see `stale_measures`.
CREATE VIEW numbers AS
SELECT n.* EXCLUDE (inputs) FROM stored_numbers AS n SEMI JOIN run_measures AS m ON n.measure = m.measure AND n.inputs = m.inputs;

-- differences: a row is a difference of two sides in one metric, of one target and selection of texts, over the cells that
-- both have. Rows of other data than the run's present data are not shown, as in `numbers`.
CREATE VIEW differences AS
SELECT d.* EXCLUDE (inputs)
FROM stored_differences AS d
SEMI JOIN run_measures AS m ON d.measure = m.measure AND d.inputs = m.inputs;

-- stale_measures: a row is a measure whose numbers are of other data than the run's present data: measure again.
--   measure: what computed the numbers: 'entities', 'cbs'
CREATE VIEW stale_measures AS
SELECT DISTINCT measure FROM stored_numbers ANTI JOIN run_measures USING (measure, inputs);

-- unusable_extractions: a row is a response of which there are only answers of no use so far: its stage was stopped, and
-- it is asked again.
CREATE VIEW unusable_extractions AS
SELECT 'extract' AS stage, u.model, u.language, u.topic, u.error, true AS retryable
FROM (
    SELECT model, language, topic, response_id, extractor_id, arg_max(error, attempts) AS error
    FROM stored_extractions
    WHERE status = 'unusable'
    GROUP BY ALL
) AS u
SEMI JOIN run_extractors AS r ON u.extractor_id = r.extractor_id
SEMI JOIN responses AS p ON u.response_id = p.response_id
ANTI JOIN extractions AS e ON u.response_id = e.response_id;

-- failed_gold_extractions: a row is a gold text that the run's extractor could not extract in an audit.
CREATE VIEW failed_gold_extractions AS
SELECT 'extract audit' AS stage, g.model, g.language, g.topic, g.error, g.retryable
FROM stored_gold_extractions AS g
SEMI JOIN run_extractors AS r ON g.extractor_id = r.extractor_id
WHERE g.status = 'failed';
