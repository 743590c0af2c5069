-- linked: a row is an item that is the best candidate of some query.
CREATE TABLE linked AS SELECT DISTINCT item FROM best_candidates;
