-- The answers of models, as hashes: a model has all of them in common with itself, or none. Two models, or one that answered
-- anew, often give one letter or score to many questions. One text is hashed for each answer: the hashes of several values
-- are combined so that the exclusive or of many of them depends on how many answers there are, not on which.
WITH said AS (
    SELECT model, concat_ws(chr(0), question_id, method, prompt, "order"::VARCHAR, sample, coalesce(raw, scores::VARCHAR, '')) AS text
    FROM read_answers WHERE status = 'ok'
)
SELECT model, hash(text, model, bit_xor(hash(text)) OVER (PARTITION BY model)) AS answer FROM said
