-- shown_responses: a row is a response that is shown for an item: at most $per_item of an item, taken in turn from its
-- models and languages, while all texts together stay below $text_budget bytes, each cut where it is very long. Lowest
-- hash first: as good as by chance, and always the same. Every item has its first response before any has its second.
CREATE OR REPLACE TEMP TABLE shown_responses AS
WITH of_surface AS (
    SELECT
        model, language, topic, kind, surface, hallucinated,
        min({'response_id': response_id, 'prompt_id': prompt_id}, $per_item) AS picks
    FROM counted_mentions
    SEMI JOIN surface_items USING (language, topic, kind, surface, hallucinated)
    GROUP BY ALL
),
of_item AS (
    SELECT item, model, language, list_sort(list_distinct(flatten(list(picks)))) AS picks
    FROM of_surface
    INNER JOIN surface_items USING (language, topic, kind, surface, hallucinated)
    GROUP BY ALL
),
laps AS (
    SELECT item, unnest(picks[:$per_item]) AS pick, generate_subscripts(picks[:$per_item], 1) AS lap
    FROM of_item
),
turns AS (
    SELECT item, pick, row_number() OVER (PARTITION BY item ORDER BY lap, pick) AS turn
    FROM laps
    QUALIFY turn <= $per_item
),
firsts AS (
    SELECT pick.response_id AS response_id, pick.prompt_id AS prompt_id, min({'turn': turn, 'item': item}) AS first
    FROM turns
    GROUP BY ALL
),
sized AS (
    SELECT
        f.first, r.response_id, r.prompt_id, r.model, r.language, r.topic, r.condition, r.country, r.sample,
        left(r.text, $longest) AS text,
        length(r.text) > $longest AS cut,
        r.detected_language, p.text AS prompt,
        sum(strlen(left(r.text, $longest))) OVER (ORDER BY f.first, f.response_id, f.prompt_id) AS bytes
    FROM firsts AS f
    INNER JOIN prompts AS p ON f.prompt_id = p.prompt_id
    INNER JOIN responses AS r  -- language and topic say in which files it is
        ON r.language = p.language AND r.topic = p.topic AND f.response_id = r.response_id AND f.prompt_id = r.prompt_id
)
SELECT row_number() OVER (ORDER BY first, response_id, prompt_id) - 1 AS number, * EXCLUDE (first, bytes)
FROM sized
WHERE bytes <= $text_budget;
