-- A row is a data set in the run, in its languages or in English: was it last read as published? NULL where that is not known,
-- as in stores of earlier versions.
SELECT DISTINCT english, as_published FROM stored_dataset_contexts WHERE dataset = $dataset
