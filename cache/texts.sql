-- Which texts are the same: samples that repeat one another, and models that write the same, are told from these.

-- text_hash: the same for texts that differ in blanks at their ends. Few have any, and to trim all would take longer than
-- to read them.
CREATE MACRO text_hash(text) AS hash(
    CASE
        WHEN text[1] IN (' ', E'\n', E'\t', E'\r', chr(12288)) OR text[-1] IN (' ', E'\n', E'\t', E'\r', chr(12288))
            THEN trim(text, E' \n\t\r' || chr(12288))
        ELSE text
    END
);

-- prompt_texts: a row is a text of a model under a prompt, by its hash; blanks at its ends count for nothing. Refusals are
-- none: those of all models, and all of one, may be the same words.
--   times: how many of the prompt's answers are this text
CREATE VIEW prompt_texts AS
SELECT model, prompt_id, text, count(*) AS times
FROM (SELECT model, prompt_id, text_hash(text) AS text FROM responses WHERE status = 'ok' AND NOT is_refusal(ending, refused))
WHERE text <> text_hash('')
GROUP BY ALL;

-- shared_texts: a row is two models that answered the same prompts.
--   other_model: the second of them
--   texts: of `model`, to these prompts
--   shared: of these, written by `other_model`, too, as an answer to the same prompt, word for word
CREATE VIEW shared_texts AS
WITH texts AS MATERIALIZED (SELECT * FROM prompt_texts),
asked AS (SELECT model, prompt_id, sum(times) AS texts FROM texts GROUP BY ALL),
answered AS (
    SELECT a.model, b.model AS other_model, sum(a.texts)::BIGINT AS texts
    FROM asked AS a
    INNER JOIN asked AS b ON a.prompt_id = b.prompt_id AND a.model <> b.model
    GROUP BY ALL
),
same AS (
    SELECT a.model, b.model AS other_model, sum(a.times)::BIGINT AS shared
    FROM texts AS a
    INNER JOIN texts AS b ON a.prompt_id = b.prompt_id AND a.text = b.text AND a.model <> b.model
    GROUP BY ALL
)
SELECT model, other_model, texts, coalesce(shared, 0) AS shared
FROM answered
LEFT JOIN same USING (model, other_model);
