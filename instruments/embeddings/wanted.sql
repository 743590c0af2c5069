-- Which vectors are wanted now. From this and its declaration follow which rows of `representations` count.

-- wanted_representations: a row is contexts of a comparison as a model of the run reads them under its present setup. A
-- comparison with a context that the data set no longer holds is not wanted.
CREATE VIEW wanted_representations AS
SELECT w.*
FROM stored_wanted_representations AS w
SEMI JOIN run_setups AS u ON u.use = 'represent' AND u.model = w.model AND u.setup_id = w.setup_id
WHERE w.model IN (SELECT model FROM run_models)
    AND list_has_all((SELECT list(context_id) FROM dataset_contexts), w.context_ids);

-- wanted_entities: a row is an entity in such contexts, by what the data set holds now.
--   entity_gender: the gender that the data set gives the entity
--   contexts: in whose gaps the entity stood: those that it fits; the vector is the mean over them
CREATE VIEW wanted_entities AS
SELECT
    w.*, len(w.context_ids) AS contexts, e.entity_id, e.entity, e.culture AS entity_culture,
    e.culture = w.culture AS native, e.gender AS entity_gender
FROM wanted_representations AS w
INNER JOIN dataset_entities AS e
    ON e.dataset = w.dataset AND e.language = w.language AND e.entity_type = w.entity_type;
