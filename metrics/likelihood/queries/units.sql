-- A row is a type of entities that was scored: what is compared within.
SELECT DISTINCT model, dataset, language, culture, entity_type, form
FROM scores
WHERE status = 'ok'
ORDER BY ALL
