-- What each question was shown with
-- relevance_contexts: a row is what stands before a question to a model under a condition and draw, or the reason why it
-- is not asked under it.
SELECT * FROM relevance_contexts ORDER BY model, dataset, question_type, source_id, target, condition, draw
