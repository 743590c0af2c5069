-- The scores of models, as hashes: a model has all of them in common with itself, or none. Two models, or one that answered
-- anew, may have one score in many items. One text is hashed for each answer: the hashes of several values are combined so
-- that the exclusive or of many of them depends on how many have a score, not on which.
SELECT model, hash(question_id, raw, model, bit_xor(hash(question_id || chr(0) || raw)) OVER (PARTITION BY model)) AS answer
FROM answers WHERE method = 'scored' AND status = 'ok'
