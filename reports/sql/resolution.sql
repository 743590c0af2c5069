-- resolution: a row is a model, a language and a topic: what share of its mentions Wikidata has no item for, and under how
-- many surfaces an item comes.
SELECT model, language, topic, looked_up, nil, nil_share, entities, surfaces, surfaces_per_entity
FROM resolution
ORDER BY model, language, topic;
