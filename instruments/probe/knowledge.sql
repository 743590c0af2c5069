-- knowledge: a row is a topic of a model in a language whose texts and layers were both looked through: how many items of
-- Wikidata are said, stored, both or one alone, how many were scored, and some of those on one side alone.
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
