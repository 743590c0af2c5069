-- Questions that are not asked under a condition, and why
-- relevance_not_asked: a row is why some questions are not asked under a condition, and how many these are.
-- printed: model, dataset, question_type, condition, reason, not_asked
SELECT model, dataset, question_type, condition, reason, not_asked
FROM relevance_not_asked
ORDER BY dataset, model, question_type DESC, condition, reason
