-- Mentions without an item, and names per item, by topic and language
-- resolution: a row is a model, a language and a topic: what share of its mentions Wikidata has no item for, what
-- share of its links the English name alone leads to, in what share it leads to another item of the topic than own words, and under
-- how many surfaces an item comes.
-- printed: model, language, topic, looked_up, nil_share, by_english_share, disagreeing_share, entities, surfaces_per_entity
SELECT model, language, topic, looked_up, nil, nil_share, linked, by_english, by_english_share, disagreeing, disagreeing_share, entities, surfaces, surfaces_per_entity
FROM resolution
ORDER BY model, language, topic;
