-- Which vectors are wanted now. From this and its declaration follow which rows of `representations` count.

-- wanted_entities: a row is an entity in contexts of `wanted_representations`, by what the data set holds now. Those of a
-- comparison with a context that the data set no longer holds are not wanted.
--   entity_gender: the gender that the data set gives the entity
--   contexts: in whose gaps the entity stood: those that it fits; the vector is the mean over them
CREATE VIEW wanted_entities AS
SELECT
    w.*, len(w.context_ids) AS contexts, e.entity_id, e.entity, e.culture AS entity_culture,
    e.culture = w.culture AS native, e.gender AS entity_gender
FROM wanted_representations AS w
INNER JOIN dataset_entities AS e
    ON e.dataset = w.dataset AND e.language = w.language AND e.entity_type = w.entity_type
WHERE list_has_all((SELECT list(context_id) FROM dataset_contexts), w.context_ids);
