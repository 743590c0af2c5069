-- A row is why some questions are not asked under a condition, and how many these are.
SELECT model, dataset, question_type, condition, reason, not_asked
FROM relevance_not_asked
ORDER BY dataset, model, question_type DESC, condition, reason
