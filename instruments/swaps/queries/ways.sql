-- A row is a way in which texts of a task and a type were asked about, or one of several: who was asked how.
SELECT DISTINCT
    task, answer_method, model, dataset, setting, language, culture, entity_type, coalesce(wording, '') AS wording,
    coalesce(settings, '') AS settings, CASE WHEN answer_method = 'prompt' THEN seed END AS seed,
    CASE WHEN answer_method <> 'prompt' THEN asked_id END AS labels
FROM swap_answers
WHERE task = $task
ORDER BY ALL
