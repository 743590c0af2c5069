-- A row is a type of entities in a setting, of which a model gave answers about texts.
SELECT DISTINCT task, answer_method, model, dataset, setting, language, culture, entity_type
FROM swap_answers
ORDER BY ALL
