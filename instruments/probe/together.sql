-- What a model says, finds probable and stores of the same items of Wikidata.

-- probed_entities: a row is an item of Wikidata among what the layers of a model gave: how often, at how many layers, of
-- how many questions, and how often it stood in the model's own answer. What repeats the inspection prompt, the culture's
-- name or the question is not counted.
--   item: as models write it most often
--   probed: how often the layers gave the item of Wikidata, echoes of prompt, culture and question left out
--   in_answers: of these, how often it stood in the model's own answer
--   at_layers: at how many layers
--   of_questions: of how many questions about a culture
CREATE VIEW probed_entities AS
SELECT
    j.model, j.language, l.topic, l.qid, mode(l.item) AS item, count(*) AS probed,
    count(*) FILTER (j.echo = 'answer') AS in_answers, count(DISTINCT j.layer) AS at_layers,
    count(DISTINCT (j.dataset, j.question_id, j.culture)) AS of_questions
FROM probe_judged AS j
INNER JOIN probe_questions AS q USING (dataset, language, culture, question_id)
INNER JOIN probe_links AS l
    ON l.language = j.language AND l.question_topic = coalesce(q.topic, '') AND l.item_key = j.item_key
WHERE j.filter = 'none' AND j.kept AND j.arm = 'patched' AND coalesce(j.echo, 'answer') = 'answer' AND l.status = 'linked'
GROUP BY ALL;

-- entity_knowledge: a row is an item of Wikidata of a topic for a model and an asking language: `generated`, the texts that
-- mention it; `scored`, how probable the model finds it (mean log-probability); `probed`, how often layers gave it. 0:
-- looked for and not there; NULL: not looked for, as no text of the topic was written, nothing of it was scored, or no item
-- of it was linked. `texts` and `items` are what was looked through.
--   generated: texts that mention it; 0: none of `texts`; NULL: no text of the topic was written
--   texts: texts that were written of the topic in the language
--   scored: mean log-probability of its names in plain contexts; NULL where it was not scored
--   probed: how often layers gave it; 0: never; NULL: no item of the topic was linked
--   in_answers: of these, how often it stood in the model's own answer
--   items: occurrences of all linked items of the topic
CREATE VIEW entity_knowledge AS
WITH said AS (
    SELECT model, language, topic, qid, count(DISTINCT response_id) AS generated
    FROM linked_mentions
    WHERE status = 'linked'
    GROUP BY ALL
),
wrote AS (
    SELECT model, language, topic, count(*) AS texts FROM responses WHERE status = 'ok' GROUP BY ALL
),
likelihood AS (
    SELECT
        e.model, e.language, coalesce(l.topic, e.entity_type) AS topic, e.qid,
        avg(e.mean_log_probability ORDER BY e.mean_log_probability) AS scored
    FROM cultural_entities AS e
    LEFT JOIN cultural_links AS l USING (language, entity_type, entity)
    WHERE e.qid IS NOT NULL
    GROUP BY ALL
),
looked AS (SELECT model, language, topic, sum(probed)::BIGINT AS items FROM probed_entities GROUP BY ALL),
found AS (
    SELECT model, language, topic, qid FROM said
    UNION SELECT model, language, topic, qid FROM likelihood
    UNION SELECT model, language, topic, qid FROM probed_entities
)
SELECT
    f.model, f.language, f.topic, f.qid, coalesce(e.label, p.item) AS label, w.texts,
    CASE WHEN w.texts IS NOT NULL THEN coalesce(s.generated, 0) END AS generated, k.scored, o.items,
    CASE WHEN o.items IS NOT NULL THEN coalesce(p.probed, 0) END AS probed,
    CASE WHEN o.items IS NOT NULL THEN coalesce(p.in_answers, 0) END AS in_answers
FROM found AS f
LEFT JOIN said AS s USING (model, language, topic, qid)
LEFT JOIN likelihood AS k USING (model, language, topic, qid)
LEFT JOIN probed_entities AS p USING (model, language, topic, qid)
LEFT JOIN wrote AS w USING (model, language, topic)
LEFT JOIN looked AS o USING (model, language, topic)
LEFT JOIN entities AS e USING (qid);

-- stored_and_never_said: a row is an item that layers gave and that no text of the model mentions, though texts of its
-- topic were written in that language. Few texts leave much unsaid: read `texts`.
CREATE VIEW stored_and_never_said AS SELECT * FROM entity_knowledge WHERE probed > 0 AND generated = 0;

-- said_and_not_stored: a row is an item that a text mentions and that no layer gave, though items of its topic were linked.
-- The probe asks some questions: what it never asked about is not absent from the model.
CREATE VIEW said_and_not_stored AS SELECT * FROM entity_knowledge WHERE generated > 0 AND probed = 0;
