-- What is asked now of the questions that are there. From this and its declaration follow which rows of `answers` count.

-- requested_answers: a row is one of `wanted_answers`, about a question that its set still has.
CREATE VIEW requested_answers AS
SELECT w.* FROM wanted_answers AS w SEMI JOIN questions AS q USING (question_id);
