-- responses: a row is a response that meets the filters (an empty one lets everything through), with the prompt that asked
-- for it and the places where the item or surface is mentioned. In the order of their hashes: as good as by chance.
WITH marked AS (
    SELECT m.response_id, m.prompt_id, list({'start': m.start, 'end': m."end"} ORDER BY m.start) AS marks
    FROM mentions AS m
    LEFT JOIN links AS l USING (query)
    WHERE m.counted AND NOT m.hallucinated
        AND ($qid <> '' OR $surface <> '')
        AND ($qid = '' OR (l.qid = $qid AND l.status = 'linked'))
        AND ($surface = '' OR m.surface = $surface)
        AND ($model = '' OR m.model = $model)
        AND ($language = '' OR m.language = $language)
        AND ($topic = '' OR m.topic = $topic)
    GROUP BY ALL
),
chosen AS (
    SELECT r.response_id, r.prompt_id, m.marks
    FROM responses AS r
    LEFT JOIN marked AS m USING (response_id, prompt_id)
    WHERE r.status = 'ok'
        AND (($qid = '' AND $surface = '') OR m.marks IS NOT NULL)
        AND ($model = '' OR r.model = $model)
        AND ($language = '' OR r.language = $language)
        AND ($topic = '' OR r.topic = $topic)
        AND ($condition = '' OR r.condition = $condition)
        AND ($country = '' OR r.country = $country)
    ORDER BY r.response_id, r.prompt_id
    LIMIT $size + 1 OFFSET $skipped
)
SELECT
    r.model, r.language, r.topic, r.condition, r.country, r.sample, r.text, r.detected_language, r.finish_reason,
    p.text AS prompt, c.marks
FROM chosen AS c
INNER JOIN responses AS r USING (response_id, prompt_id)
INNER JOIN prompts AS p USING (prompt_id)
ORDER BY r.response_id, r.prompt_id;
