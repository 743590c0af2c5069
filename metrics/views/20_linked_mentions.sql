-- linked_mentions: a row is a mention that counts (a kind that is counted, found in its response) with what became of
-- it: `status` is 'linked', 'ambiguous' (rivals too close to choose: `qid` is the first of them), 'no candidate', 'no
-- path', or NULL while nobody looked it up. The metrics take 'linked' only; a column that ends in `_with_ambiguous`
-- takes both.
CREATE VIEW linked_mentions AS
SELECT
    m.* EXCLUDE (counted, hallucinated),
    l.status,
    l.qid,
    l.status = 'ambiguous' AS ambiguous,
    l.match,
    l.matched,
    l.score
FROM mentions AS m
LEFT JOIN links AS l USING (language, topic, kind, surface)
WHERE m.counted AND NOT m.hallucinated;

-- cell_items: a row is an item that a cell's mentions came to, with how many of them are linked to it and for how many
-- it is the first of several rivals. What belongs to no item stands in rows whose `qid` is NULL: mentions without one,
-- and the responses that the extractor read whole. Every cell has such rows. A surface is looked up once a cell, not
-- once a mention.
CREATE VIEW cell_items AS
WITH surfaces AS (
    SELECT p.cell, m.kind, m.surface, count(*) AS mentions
    FROM stored_mentions AS m
    INNER JOIN cell_prompts AS p USING (model, prompt_id, sampling_id, extractor_id)
    WHERE m.sample < p.n AND m.counted AND NOT m.hallucinated
    GROUP BY ALL
),
items AS (
    SELECT
        cell, qid,
        0 AS responses,
        coalesce(sum(mentions) FILTER (status = 'linked'), 0)::BIGINT AS linked,
        coalesce(sum(mentions) FILTER (status = 'ambiguous'), 0)::BIGINT AS ambiguous,
        coalesce(sum(mentions) FILTER (status = 'no candidate'), 0)::BIGINT AS no_candidate,
        coalesce(sum(mentions) FILTER (status = 'no path'), 0)::BIGINT AS no_path,
        coalesce(sum(mentions) FILTER (status IS NULL), 0)::BIGINT AS awaiting
    FROM surfaces
    INNER JOIN numbered_cells USING (cell)
    LEFT JOIN links USING (language, topic, kind, surface)
    GROUP BY ALL
    UNION ALL
    SELECT p.cell, NULL, count(*), 0, 0, 0, 0, 0
    FROM stored_extractions AS e
    INNER JOIN cell_prompts AS p USING (model, prompt_id, sampling_id, extractor_id)
    WHERE e.sample < p.n AND e.status = 'ok'
    GROUP BY ALL
    UNION ALL
    SELECT cell, NULL, 0, 0, 0, 0, 0, 0
    FROM numbered_cells
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, i.qid,
    i.responses, i.linked, i.ambiguous, i.no_candidate, i.no_path, i.awaiting
FROM items AS i
INNER JOIN numbered_cells AS c USING (cell);
