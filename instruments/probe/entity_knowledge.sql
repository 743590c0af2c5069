-- What is said, found probable and stored, item by item
-- entity_knowledge: a row is an item of Wikidata of a topic for a model and an asking language.
-- printed: model, language, topic, qid, label, texts, generated, scored, items, probed, in_answers
-- no rows: no item was linked: run with --link
SELECT * FROM entity_knowledge ORDER BY model, language, topic, probed DESC, generated DESC, qid
