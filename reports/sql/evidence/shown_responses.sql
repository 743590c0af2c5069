-- shown_responses: a row is a response that is shown, with the prompt that asked for it: as many as fit into $text_budget
-- bytes.
CREATE OR REPLACE TEMP TABLE shown_responses AS
SELECT * EXCLUDE (bytes, needed)
FROM drawn_responses
WHERE bytes <= $text_budget;
