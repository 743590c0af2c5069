-- A row is a data set in the run, in its languages or in English: was it last read as published?
SELECT DISTINCT english, as_published FROM stored_dataset_contexts WHERE dataset = $dataset
