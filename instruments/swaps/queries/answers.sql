-- A row is an answer about a text of one data set and setting, of all its types; failures are told by `ok`.
SELECT
    language, culture, entity_type, context_id, entity_id, native, draw, gold,
    status = 'ok' AS ok, coalesce(answer, '') AS answer, coalesce(matched, 0) AS matched,
    coalesce(predicted, 0) AS predicted
FROM swap_answers
WHERE task = $task AND answer_method = $answer_method AND model = $model AND dataset = $dataset AND setting = $setting
ORDER BY language, culture, entity_type, context_id, entity_id, draw
