-- Which shares of vocabularies count now.

-- vocabulary_shares: a row is a language's share in a model's vocabulary by one reading of what the language's letters are:
-- under the model's present setup, and as letters and ranges are counted now.
--   share: `own` of `tokens`; NULL of an empty vocabulary
CREATE VIEW vocabulary_shares AS
SELECT v.*, v.own / nullif(v.tokens, 0) AS share
FROM stored_vocabulary_shares AS v
SEMI JOIN run_models AS m ON v.model = m.model
LEFT JOIN run_setups AS u ON u.use = 'tokenize' AND v.model = u.model
WHERE v.setup_id = u.setup_id AND v.writing_id IN (SELECT id FROM run_asked WHERE instrument = 'tokens');
