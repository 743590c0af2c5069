-- wanted_toys: a row is what a model of the run was asked. From this and its declaration follow which rows count.
CREATE VIEW wanted_toys AS SELECT DISTINCT request_id FROM stored_toy_lengths SEMI JOIN run_models USING (model);
