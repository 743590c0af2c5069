-- The answers of models, as hashes: the same text to the same request is the same answer.
SELECT model, hash(request_id, sample, text) AS answer FROM responses WHERE status = 'ok'
