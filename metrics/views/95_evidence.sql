-- entity_counts: a row is an item that a cell's mentions were linked to, with its names and countries, and how many
-- mentions in how many responses. An item that was only ever one of several rivals has `linked` = 0.
CREATE VIEW entity_counts AS
WITH countries_of AS (
    SELECT qid, list({'country': country, 'property': property} ORDER BY country) AS countries
    FROM associations
    GROUP BY qid
)
SELECT
    m.model, m.language, m.topic, m.condition, m.country, m.qid,
    any_value(e.label) AS label,
    any_value(e.labels) AS labels,
    any_value(e.description) AS description,
    any_value(c.countries) AS countries,
    count(*) AS mentions,
    count(*) FILTER (NOT m.ambiguous) AS linked,
    count(DISTINCT m.response_id) AS responses,
    list(DISTINCT m.surface ORDER BY m.surface) AS surfaces
FROM linked_mentions AS m
LEFT JOIN entities AS e USING (qid)
LEFT JOIN countries_of AS c USING (qid)
WHERE m.qid IS NOT NULL
GROUP BY m.model, m.language, m.topic, m.condition, m.country, m.qid;

-- mention_trail: a row is a mention with the way back from it: where it stands in its response, and what was asked.
CREATE VIEW mention_trail AS
SELECT
    m.model, m.language, m.topic, m.condition, m.country, m.qid, m.status, m.surface, m.kind, m.granularity,
    m.start, m."end", m.sample, m.ordinal, m.match, m.matched, m.score, m.response_id, m.prompt_id,
    r.text AS response, r.finish_reason, r.detected_language, p.text AS prompt, p.name
FROM linked_mentions AS m
INNER JOIN responses AS r USING (response_id)
INNER JOIN prompts AS p ON m.prompt_id = p.prompt_id;
