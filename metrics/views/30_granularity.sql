-- granularity: a row is a cell; the mean of the 0/1 labels of its counted mentions, hallucinated ones left out, with
-- the responses (read whole by the extractor) and the mentions that it rests on. NULL when there is no mention.
CREATE VIEW granularity AS
WITH tally AS (
    SELECT p.cell, 0 AS responses, count(m.granularity) AS mentions, count(*) FILTER (m.granularity = 1) AS specific
    FROM stored_mentions AS m
    INNER JOIN cell_prompts AS p USING (model, prompt_id, sampling_id, extractor_id)
    WHERE m.sample < p.n AND m.counted AND NOT m.hallucinated
    GROUP BY ALL
    UNION ALL
    SELECT p.cell, count(*), 0, 0
    FROM stored_extractions AS e
    INNER JOIN cell_prompts AS p USING (model, prompt_id, sampling_id, extractor_id)
    WHERE e.sample < p.n AND e.status = 'ok'
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country,
    sum(t.specific) / nullif(sum(t.mentions), 0) AS granularity,
    coalesce(sum(t.responses), 0)::BIGINT AS responses,
    coalesce(sum(t.mentions), 0)::BIGINT AS mentions,
    coalesce(sum(t.specific), 0)::BIGINT AS specific
FROM numbered_cells AS c
LEFT JOIN tally AS t USING (cell)
GROUP BY ALL;
