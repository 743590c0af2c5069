-- side_by_side: a row is a response of one of two models to one prompt, or a request that failed, with its error: the prompt
-- at place $skipped, from 0, among those that both models were asked and that meet the filters (an empty one lets everything
-- through). Each model has its first $size samples; `failed` counts those without a response among all `samples`. `named` are
-- the labels of the linked items of all its samples, most frequent first.
WITH requested AS (
    SELECT prompt_id, model, sample, response_id, status, text, error, detected_language
    FROM responses
    WHERE model IN ($a, $b)
        AND ($language = '' OR language = $language)
        AND ($topic = '' OR topic = $topic)
        AND ($condition = '' OR condition = $condition)
        AND ($country = '' OR country = $country)
),
shared AS (SELECT prompt_id FROM requested GROUP BY prompt_id HAVING count(DISTINCT model) = 2),
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
    r.model, r.sample, r.status, r.text, r.error, r.detected_language, c.prompts, c.language, c.topic, c.condition, c.country,
    c.prompt, m.marks, n.named, count(*) OVER (PARTITION BY r.model) AS samples,
    count(*) FILTER (r.status <> 'ok') OVER (PARTITION BY r.model) AS failed
FROM chosen AS c
INNER JOIN requested AS r USING (prompt_id)
LEFT JOIN marked AS m USING (response_id)
LEFT JOIN named AS n ON r.model = n.model
QUALIFY row_number() OVER (PARTITION BY r.model ORDER BY r.sample, r.response_id) <= $size
ORDER BY r.model <> $a, r.sample, r.response_id;
