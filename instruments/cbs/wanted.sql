-- What is scored now, with what is known of it. From this and its declaration follow which rows of `scores` count.

-- wanted_pairs: a row is an entity that fits a context of `wanted_scores`, by what the data set holds now. A causal context that begins
-- with its gap is there after a reading as published alone.
--   context: the context's text, with the gap as [MASK]
--   base_context_id: of a context with a prefix: the context_id of the one without
--   source_context_id: of a translated context: the context_id of its source
--   pair: the name that the two phrasings of a context share
--   english: the publisher's translation of the entity
--   publisher_qid: the Wikidata item that the publisher names for the entity
CREATE VIEW wanted_pairs AS
SELECT
    w.request_id, w.model, w.topic, e.entity_id,
    c.dataset, c.culture, c.entity_type, c.setting, c.form, c.phrasing, c.pair, c.context_prefix, c.base_context_id,
    c.source_context_id, c.context_id, c.context,
    e.entity, e.culture AS entity_culture, e.culture = c.culture AS native, e.translation AS english, e.publisher_qid
FROM wanted_scores AS w
JOIN dataset_contexts AS c USING (context_id)
JOIN dataset_entities AS e ON e.dataset = c.dataset AND e.language = c.language AND e.entity_type = c.entity_type
    AND (e.reference OR e.culture = c.culture) AND is_of_gender(e.gender, c.gender)
WHERE NOT (c.starts_with_gap AND c.form = 'causal' AND NOT c.as_published);
