-- What is said and what is stored, as items of Wikidata
-- knowledge: a row is a topic of a model in a language whose texts and layers were both looked through: how many items of
-- Wikidata are said, stored, both or one alone, how many were scored, and some of those on one side alone.
--   said: items that texts mention
--   stored: items that layers gave
--   scored: items that have a likelihood
--   both: items that texts mention and layers gave
--   stored_never_said: items that layers gave and no text mentions
--   said_not_stored: items that a text mentions and no layer gave
--   stored_examples: some of `stored_never_said`
--   said_examples: some of `said_not_stored`
-- printed: model, language, topic, texts, items, said, stored, scored, both, stored_never_said, said_not_stored
-- no rows: no topic has both texts and linked items: run with --link, and generate texts of the topic
SELECT
    model, language, topic, any_value(texts) AS texts, any_value(items) AS items,
    count(*) FILTER (generated > 0) AS said, count(*) FILTER (probed > 0) AS stored, count(scored) AS scored,
    count(*) FILTER (generated > 0 AND probed > 0) AS both,
    count(*) FILTER (probed > 0 AND generated = 0) AS stored_never_said,
    count(*) FILTER (generated > 0 AND probed = 0) AS said_not_stored,
    array_to_string(
        (list(label ORDER BY probed DESC, label) FILTER (probed > 0 AND generated = 0))[:6], '; '
    ) AS stored_examples,
    array_to_string(
        (list(label ORDER BY generated DESC, label) FILTER (generated > 0 AND probed = 0))[:6], '; '
    ) AS said_examples
FROM entity_knowledge
WHERE texts IS NOT NULL AND items IS NOT NULL
GROUP BY model, language, topic
ORDER BY model, language, topic
