-- side_by_side: a row is a response of one of two models to one prompt: the one at place $skipped, from 0, among the prompts
-- that both models answered and that meet the filters (an empty one lets everything through). Each model has its first
-- $size samples. `named` are the labels of the linked items of all its samples, most frequent first.
WITH answered AS (
    SELECT prompt_id, model, sample, response_id, text, detected_language
    FROM responses
    WHERE status = 'ok' AND model IN ($a, $b)
        AND ($language = '' OR language = $language)
        AND ($topic = '' OR topic = $topic)
        AND ($condition = '' OR condition = $condition)
        AND ($country = '' OR country = $country)
),
shared AS (SELECT prompt_id FROM answered GROUP BY prompt_id HAVING count(DISTINCT model) = 2),
chosen AS (
    SELECT p.prompt_id, p.language, p.topic, p.condition, p.country, p.text AS prompt, count(*) OVER () AS prompts
    FROM prompts AS p
    SEMI JOIN shared USING (prompt_id)
    ORDER BY p.language, p.topic, p.condition, p.country NULLS FIRST, p.prompt_id
    LIMIT 1 OFFSET $skipped
),
mentioned AS (
    SELECT m.model, m.response_id, m.start, m."end", l.qid
    FROM mentions AS m
    SEMI JOIN chosen USING (prompt_id)
    INNER JOIN links AS l USING (query)
    WHERE m.counted AND NOT m.hallucinated AND l.status = 'linked' AND m.model IN ($a, $b)
),
marked AS (
    SELECT response_id, list({'start': start, 'end': "end"} ORDER BY start) AS marks FROM mentioned GROUP BY response_id
),
items AS (
    SELECT n.model, coalesce(e.label, n.qid) AS label, count(DISTINCT n.response_id) AS naming
    FROM mentioned AS n
    LEFT JOIN entities AS e USING (qid)
    GROUP BY ALL
),
named AS (SELECT model, list(label ORDER BY naming DESC, label) AS named FROM items GROUP BY model)
SELECT
    a.model, a.sample, a.text, a.detected_language, c.prompts, c.language, c.topic, c.condition, c.country, c.prompt,
    m.marks, n.named, count(*) OVER (PARTITION BY a.model) AS samples
FROM chosen AS c
INNER JOIN answered AS a USING (prompt_id)
LEFT JOIN marked AS m USING (response_id)
LEFT JOIN named AS n ON a.model = n.model
QUALIFY row_number() OVER (PARTITION BY a.model ORDER BY a.sample, a.response_id) <= $size
ORDER BY a.model <> $a, a.sample, a.response_id;
