-- What is asked now of question sets. From this and its declaration follow which rows of `answers` count.

-- questions: a row is a question of a set as its files are at present.
CREATE VIEW questions AS SELECT * FROM stored_questions;
