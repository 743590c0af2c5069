-- Which texts are the same.

-- text_hash: the same for texts that differ in blanks at their ends. Few have any, and to trim all would take longer than
-- to read them.
CREATE MACRO text_hash(text) AS hash(
    CASE
        WHEN text[1] IN (' ', E'\n', E'\t', E'\r', chr(12288)) OR text[-1] IN (' ', E'\n', E'\t', E'\r', chr(12288))
            THEN trim(text, E' \n\t\r' || chr(12288))
        ELSE text
    END
);

-- plain_text: the letters of a text. A file's texts may have been numbered, or punctuated anew, by whoever made it.
CREATE MACRO plain_text(text) AS regexp_replace(text, '[^\p{L}\p{M}]+', '', 'g');

-- checked_responses: a row is a response; whether it declines in words is known for more of them than `responses` says.
-- Where its language has no phrases of refusals, a model that extracts says whether the text declines its task.
--   refused: does it decline in words? NULL where nobody knows: no phrases, and no model has extracted from it
CREATE VIEW checked_responses AS
SELECT r.* REPLACE (coalesce(r.refused, e.declined) AS refused)
FROM responses AS r
LEFT JOIN (SELECT request_id, sample, declined FROM extractions WHERE declined IS NOT NULL) AS e
    ON r.request_id = e.request_id AND r.sample = e.sample;

-- answer_texts: a row is an answer with the hash of its words; of an imported one that of its letters, too, since to look at
-- each letter takes long. Blank answers and refusals are none: refusals of one model, and of all, may be the same words.
--   text: a hash of the words
--   letters: a hash of the letters alone; NULL of generated texts, and of one without letters
CREATE VIEW answer_texts AS
SELECT
    request_id, sample, model, language, topic, prompt_id, text_hash(text) AS text,
    CASE WHEN origin IS NOT NULL AND plain_text(text) <> '' THEN hash(plain_text(text)) END AS letters
FROM checked_responses
WHERE status = 'ok' AND NOT is_refusal(ending, refused) AND text_hash(text) <> text_hash('');

-- prompt_texts: a row is a text of a model under a prompt, by its hash.
--   times: how many of the prompt's answers are this text
CREATE VIEW prompt_texts AS
SELECT model, prompt_id, text, count(*) AS times FROM answer_texts GROUP BY ALL;
