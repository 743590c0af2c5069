-- variance_components: a row is a metric, a condition and a component: how much of the variance of the values of
-- `prompt_values` is of models, of languages, ..., of their interactions, of wordings, names and sampling, as `polyculture
-- measure` computed it. Models, languages, topics and countries are those of the run; wordings and names stand for others.
-- `estimate` is a variance, its root is in units of the metric. NULL with a `reason` where the design cannot tell it. No
-- row where other data than the run's present data was measured.
--   metric: 'granularity', 'diversity' or 'specificity'
--   component: 'model', 'language', 'topic', 'country', 'model x language', 'language x country', 'other
--     interactions' (of these four), 'wording', 'model x wording', 'name', 'model x name' or 'sampling'
--   estimate: the variance, in squared units of the metric; NULL where the design cannot tell it
--   low: lower limit of the 95 % interval of the variance
--   high: upper limit of the 95 % interval of the variance
--   share: its share of the sum of all components that can be told
--   share_low: lower limit of the 95 % interval of the share
--   share_high: upper limit of the 95 % interval of the share
--   reason: why there is no estimate: 'one wording', 'one country a language', 'no values', ...
--   design: the factors with several levels: '2 models, 13 languages'
--   used: values of a prompt and a model that it rests on
--   filled: places of the design without a value, which were filled in
--   left_out: prompts without a value, and values outside the design
CREATE VIEW variance_components AS
SELECT v.* EXCLUDE (inputs)
FROM stored_variance_components AS v
SEMI JOIN (FROM run_measures WHERE measure = 'entities') AS m ON v.inputs = m.inputs;
