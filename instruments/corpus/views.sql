-- pair_outcomes: a row is how often the Western entity of a pair is the more probable one by a corpus, how often the native
-- one, and how often neither, for a type of entities or over all types.
CREATE VIEW pair_outcomes AS SELECT * FROM stored_pair_outcomes SEMI JOIN wanted_scores USING (model);
