-- A row: a prompt as a model was asked it, with one of the labels of its texts (NULL: it has none that is labelled) and how
-- many of them have it; beside, what became of all its texts. The texts are read once.
WITH counted AS MATERIALIZED (
    SELECT
        model, prompt_id, outcome, label, count(*) AS texts,
        count(*) FILTER (outcome = 'labelled' AND off_language) AS off_language,
        count(*) FILTER (neutral_because IN ('nothing named', 'nothing linked', 'no country')) AS unplaced
    FROM text_regions
    WHERE outcome <> 'not asked'
    GROUP BY ALL
),
texts AS (
    SELECT
        model, prompt_id,
        sum(texts) FILTER (outcome = 'labelled') AS labelled,
        sum(texts) FILTER (outcome = 'refused') AS refused,
        sum(texts) FILTER (outcome = 'empty') AS empty,
        sum(texts) FILTER (outcome = 'failed') AS failed,
        sum(texts) FILTER (outcome IN ('extraction failed', 'awaiting')) AS unread,
        sum(off_language) AS off_language,
        sum(unplaced) AS unplaced
    FROM counted
    GROUP BY ALL
)
SELECT
    w.model, p.language, p.condition, p.topic, p.country, p.wording, coalesce(p.person, p.name) AS name, p.prompt_id,
    l.label, coalesce(l.texts, 0) AS texts, least(w.n, coalesce((SELECT min(sample) FROM run_extractors), w.n)) AS asked,
    coalesce(COLUMNS(['labelled', 'refused', 'empty', 'failed', 'unread', 'off_language', 'unplaced']), 0)::BIGINT
FROM wanted_responses AS w
INNER JOIN prompts AS p USING (prompt_id)
LEFT JOIN texts AS t USING (model, prompt_id)
LEFT JOIN (SELECT model, prompt_id, label, texts FROM counted WHERE label IS NOT NULL) AS l USING (model, prompt_id)
WHERE EXISTS (FROM known_countries)
ORDER BY w.model, p.language, p.condition, p.topic, p.country NULLS FIRST, p.wording, name NULLS FIRST, p.prompt_id, l.label
