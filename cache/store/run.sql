-- What the manifest says of a run: which rows count at present, and what they cost. `cache.store.store` puts the rows in.

-- run_extractors: a row is an extractor whose mentions count now
--   extractor_id: an extractor whose mentions count now
--   reader_id: who reads its answers now
--   sample: how many texts of each prompt it reads, the first ones; NULL: all. The others are not asked, and not missing
CREATE TABLE run_extractors (extractor_id VARCHAR, reader_id VARCHAR, sample BIGINT);

-- run_models: a row is a model of the experiment
--   model: a model of the experiment
CREATE TABLE run_models (model VARCHAR);

-- run_asked: a row is what an instrument asks now: rows of it count that were made under one of these ids
--   instrument: the instrument that asks; 'texts' of the run's texts, whose ids are those of extractors by topic
--   what: what is asked: a task, how it is asked, and the language
--   prompt: the name of one of several prompts of this; empty where there are no several
--   reads: the id is that of a reader of the answers
--   id: a hash of all that decides the answers
--   settings: what the manifest says of it besides, as JSON: keys of the experiment file, or what is good in a score
CREATE TABLE run_asked (instrument VARCHAR, what VARCHAR, prompt VARCHAR, reads BOOLEAN, id VARCHAR, settings VARCHAR);

-- run_setups: a model for one use, and the setup under which its rows count
--   setup: the setup in words, as JSON: the options and hashes that decide what the model says
--   use: 'score' (log-probabilities), 'represent' (hidden states), 'answer' (an instrument's answers), 'sample'
--     (responses), 'extract' (extractions)
CREATE TABLE run_setups ("use" VARCHAR, model VARCHAR, setup_id VARCHAR, setup VARCHAR);

-- former_setups: a row is a setup under which rows were made that no longer count
--   setup: the setup in words, as JSON: the options and hashes that decided what the model said
CREATE TABLE former_setups (setup_id VARCHAR, setup VARCHAR);

-- run_prices: a row is the price of a model, from the experiment file
--   model: a model, as the experiment file names it
--   input: price of a million tokens that are read
--   output: price of a million tokens that are written
--   batch_discount: share of the price that a batch saves
CREATE TABLE run_prices (model VARCHAR, "input" DOUBLE, "output" DOUBLE, batch_discount DOUBLE);

-- run_charges: a row is what was charged for requests of a job that are in no row of the store
--   stage: the stage that asked
--   model: the model of the job
--   charged: the money: at most, where nobody knows the bill
--   unknown_bills: requests in it whose bill nobody knows
CREATE TABLE run_charges (
    stage VARCHAR, model VARCHAR, language VARCHAR, topic VARCHAR, charged DOUBLE, unknown_bills BIGINT
);

-- run_model_facts: a row is what the experiment file says of a model, as the run recorded it last
--   model: a model, as the experiment file names it
CREATE TABLE run_model_facts (model VARCHAR, origin VARCHAR, parameters DOUBLE, size VARCHAR, open BOOLEAN);

-- run_countries: a row is a country of the experiment
--   country: a country of the experiment, ISO 3166
CREATE TABLE run_countries (country VARCHAR);

-- run_measures: a row is a measure of numbers, and the data of the run that they are to rest on
--   measure: what computes the numbers: 'entities', 'cbs'
--   inputs: a hash of what the run asks and of the files that hold the answers
CREATE TABLE run_measures (measure VARCHAR, inputs VARCHAR);
