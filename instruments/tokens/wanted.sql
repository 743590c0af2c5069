-- What is counted now. From this and its declaration follow which rows of `vocabulary_shares` count.

-- wanted_vocabularies: a row is a language in the vocabulary of a model of the run, under its present setup.
CREATE VIEW wanted_vocabularies AS
SELECT w.*
FROM stored_wanted_vocabularies AS w
SEMI JOIN run_models AS m ON m.model = w.model
SEMI JOIN run_setups AS u ON u.use = 'tokenize' AND u.model = w.model AND u.setup_id = w.setup_id;
