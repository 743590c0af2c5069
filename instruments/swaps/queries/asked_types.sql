-- A row is a type of entities whose texts a task asked about, in a language, culture and setting: which settings it was asked
-- under, and whether its answers could have been others, at a temperature above 0. Rows of one `settings_id` may be added up.
SELECT DISTINCT
    task, answer_method, model, dataset, setting, language, culture, entity_type,
    coalesce(settings ->> 'settings_id', asked_id) AS settings_id,
    coalesce((settings ->> 'temperature')::DOUBLE, 0) <> 0 AS is_sampled
FROM swap_answers
WHERE task = $task
ORDER BY ALL
