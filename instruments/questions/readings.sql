-- What readers make of answers to question sets.

-- answer_readings: a row is what a present reader makes of an answer that counts.
CREATE VIEW answer_readings AS
SELECT r.*
FROM stored_answer_readings AS r
SEMI JOIN run_asked AS a ON a.instrument = 'questions' AND a.reads AND a.id = r.reader_id
SEMI JOIN answers AS t ON t.answer_id = r.answer_id;
