-- drawn_responses: a row is a response that may be shown, in the order in which they are while their texts fit: `bytes` is
-- the size of all up to it, each cut where it is very long. A place is an item in a model, language and topic and, as far
-- as asked for, under a condition and about a country. Every item has its first response before any has its second, and
-- every place its first, which is `needed`, before any its second. In a place the lowest hash comes first: as good as by
-- chance, and always the same; at most $laps of a place are drawn.
CREATE OR REPLACE TEMP TABLE drawn_responses AS
WITH of_surface AS (
    SELECT
        model, language, topic,
        CASE WHEN $by_condition THEN condition END AS condition,
        CASE WHEN $by_country THEN country END AS country,
        kind, surface, hallucinated,
        min({'response_id': response_id, 'prompt_id': prompt_id}, $laps) AS picks
    FROM counted_mentions
    SEMI JOIN surface_items USING (language, topic, kind, surface, hallucinated)
    GROUP BY ALL
),
of_place AS (
    SELECT
        item, model, language, topic, condition, country,
        list_sort(list_distinct(flatten(list(picks))))[:$laps] AS picks
    FROM of_surface
    INNER JOIN surface_items USING (language, topic, kind, surface, hallucinated)
    GROUP BY ALL
),
laps AS (
    SELECT item, unnest(picks) AS pick, generate_subscripts(picks, 1) AS lap
    FROM of_place
),
turns AS (
    SELECT item, pick, lap, row_number() OVER (PARTITION BY item ORDER BY lap, pick) AS turn
    FROM laps
),
firsts AS (
    SELECT
        pick.response_id AS response_id, pick.prompt_id AS prompt_id,
        min({'later': lap > 1, 'turn': turn, 'item': item}) AS first
    FROM turns
    GROUP BY ALL
)
SELECT
    r.response_id, r.prompt_id, r.model, r.language, r.topic, r.condition, r.country, r.sample,
    left(r.text, $longest) AS text,
    length(r.text) > $longest AS cut,
    r.detected_language, p.text AS prompt,
    NOT f.first.later AS needed,
    row_number() OVER in_turn - 1 AS number,
    sum(strlen(left(r.text, $longest))) OVER in_turn AS bytes
FROM firsts AS f
INNER JOIN prompts AS p ON f.prompt_id = p.prompt_id
INNER JOIN responses AS r  -- language and topic say in which files it is
    ON r.language = p.language AND r.topic = p.topic AND f.response_id = r.response_id AND f.prompt_id = r.prompt_id
WINDOW in_turn AS (ORDER BY f.first, f.response_id, f.prompt_id);
