-- right_language: every table and view without the responses whose language is not the prompt's (`off_language` in
-- `health`), and without what was found in them. What the detector could not tell stays.
CREATE VIEW wrong_responses AS
SELECT DISTINCT response_id, prompt_id
FROM main.stored_responses
WHERE status = 'ok' AND main.is_off_language(detected_language, language, script_share);

CREATE VIEW stored_responses AS
SELECT r.* FROM main.stored_responses AS r ANTI JOIN wrong_responses AS w USING (response_id, prompt_id);

CREATE VIEW stored_extractions AS
SELECT e.* FROM main.stored_extractions AS e ANTI JOIN wrong_responses AS w USING (response_id, prompt_id);

CREATE VIEW stored_mentions AS
SELECT m.* FROM main.stored_mentions AS m ANTI JOIN wrong_responses AS w USING (response_id, prompt_id);
