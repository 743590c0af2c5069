-- A row is what a model was asked of a task in one language and culture, in some settings and types (empty: all): contexts,
-- draws, and the most entities of a side in a draw; and what the data set has there, as published. `wordings` are those of the
-- questions.
WITH sides AS (
    SELECT
        task, model, answer_method, language, culture, context_id, draw, native, wording, count(*) AS entities
    FROM swap_answers
    WHERE dataset = $dataset AND task = $task AND (len($settings) = 0 OR list_contains($settings, setting))
        AND (len($types) = 0 OR list_contains($types, entity_type))
    GROUP BY ALL
),
contexts AS (
    SELECT
        language, culture, bool_or(english) AS english,
        count(DISTINCT context_id) FILTER (setting = 'qa') AS qa,
        count(DISTINCT context_id) FILTER (setting <> 'qa' AND form IN ('masked', 'any')) AS ner,
        count(DISTINCT context_id) FILTER (setting <> 'qa' AND form IN ('masked', 'any') AND sentiment IS NOT NULL) AS sentiment
    FROM stored_dataset_contexts
    WHERE dataset = $dataset AND context_prefix IS NULL AND phrasing IS NULL
        AND (len($settings) = 0 OR list_contains($settings, setting))
        AND (len($types) = 0 OR list_contains($types, entity_type))
    GROUP BY ALL
),
entities AS (
    SELECT language, max(number) AS most
    FROM (
        SELECT language, culture, entity_type, count(*) AS number
        FROM stored_dataset_entities
        WHERE dataset = $dataset
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    s.task, s.model, s.answer_method, s.language, s.culture,
    count(DISTINCT s.context_id) AS asked, max(s.draw) + 1 AS draws, max(s.entities) AS entities,
    list(DISTINCT s.wording) AS wordings,
    CASE s.task WHEN 'qa' THEN c.qa WHEN 'ner' THEN c.ner ELSE c.sentiment END AS contexts,
    c.english, e.most
FROM sides AS s
JOIN contexts AS c ON s.language = c.language AND s.culture = c.culture
JOIN entities AS e ON s.language = e.language
GROUP BY ALL
ORDER BY ALL
