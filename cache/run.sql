-- What the manifest says of a run: which rows count at present, and what they cost. `cache.store` puts the rows in.
CREATE TABLE run_extractors (extractor_id VARCHAR, reader_id VARCHAR);
CREATE TABLE run_models (model VARCHAR);
CREATE TABLE run_asked (instrument VARCHAR, "key" VARCHAR, id VARCHAR);
CREATE TABLE run_setups ("use" VARCHAR, model VARCHAR, setup_id VARCHAR, setup VARCHAR);
CREATE TABLE former_setups (setup_id VARCHAR, setup VARCHAR);
CREATE TABLE run_prices (model VARCHAR, "input" DOUBLE, "output" DOUBLE, batch_discount DOUBLE);
CREATE TABLE run_model_facts (model VARCHAR, origin VARCHAR, parameters DOUBLE, size VARCHAR, open BOOLEAN);
CREATE TABLE run_countries (country VARCHAR);
CREATE TABLE run_measures (measure VARCHAR, inputs VARCHAR);
