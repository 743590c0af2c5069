-- What the data sets of a run hold now: rows about anything else do not count.

-- dataset_contexts: a row is a context of a data set as the run last read it, or one with help as it was last asked. Rows that
-- only a reading as published has are there after such a reading.
CREATE VIEW dataset_contexts AS
SELECT * FROM stored_dataset_contexts WHERE as_published OR NOT left_out;

-- dataset_entities: a row is an entity of a data set as the run last read it, with the gender that this reading gives it.
CREATE VIEW dataset_entities AS
SELECT * REPLACE (CASE WHEN as_published THEN published_gender ELSE gender END AS gender)
FROM stored_dataset_entities WHERE as_published OR NOT left_out;

-- is_of_gender: does an entity fit a context, by the genders that the data set gives them?
CREATE MACRO is_of_gender(entity, context) AS
    coalesce(context, 'both') = 'both' OR coalesce(entity, 'both') = 'both' OR entity = context;

-- datasets: a row is a data set of which the run knows what it holds now.
CREATE VIEW datasets AS SELECT DISTINCT dataset FROM dataset_contexts;
