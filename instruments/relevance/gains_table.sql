-- The gains that `polyculture relevance` prints: a row is the accuracy under one condition less that under another, paired
-- within questions.
SELECT
    model, answer_method AS method, reader, prompt, question_type AS type, condition, "over", round(gain, 3) AS gain,
    CASE WHEN low IS NOT NULL THEN format('{:.3f} to {:.3f}', low, high) ELSE lacking END AS "95 %",
    format('{:.4g}', p) AS p, format('{:.4g}', q) AS q, questions AS "question ids"
FROM relevance_gains
WHERE dataset = $dataset AND list_contains($models, model)
ORDER BY
    model, method, reader, prompt, type DESC,
    array_position(['alone', 'culture', 'source', 'other-culture', 'no-answer'], "over"),
    array_position(['culture', 'probe', 'source', 'other-culture', 'no-answer'], condition)
