-- search: a row is an item, or a surface without one, that has $needle in a name; how often it was mentioned, and where.
-- Of an item that has it in any name all mentions count, and a mention that was not looked up yet is found by its surface.
-- What is looked for is known before mentions are read: of millions, only those are added up.
WITH named AS (
    SELECT qid
    FROM entities
    WHERE contains(lower(label), lower($needle)) OR contains(lower(map_values(labels)::VARCHAR), lower($needle))
        OR qid = upper($needle)
    UNION
    SELECT qid
    FROM links
    WHERE qid IS NOT NULL AND contains(lower(surface), lower($needle))
),
wanted AS MATERIALIZED (
    SELECT query, qid, status
    FROM links
    WHERE qid IN (FROM named) OR (qid IS NULL AND contains(lower(surface), lower($needle)))
),
told AS (
    SELECT w.qid, w.status, m.language, m.surface, m.model, count(*) AS mentions
    FROM mentions AS m
    INNER JOIN wanted AS w USING (query)
    WHERE m.counted AND NOT m.hallucinated
    GROUP BY ALL
    UNION ALL
    SELECT NULL, 'awaiting', m.language, m.surface, m.model, count(*)
    FROM mentions AS m
    ANTI JOIN links AS l USING (query)
    WHERE m.counted AND NOT m.hallucinated AND contains(lower(m.surface), lower($needle))
    GROUP BY ALL
)
SELECT
    t.qid,
    coalesce(any_value(e.label), any_value(t.surface)) AS label,
    any_value(e.description) AS description,
    t.status,
    sum(t.mentions)::BIGINT AS mentions,
    count(DISTINCT t.model) AS models,
    list(DISTINCT t.language ORDER BY t.language) AS languages,
    list(DISTINCT t.surface ORDER BY t.surface)[:8] AS surfaces
FROM told AS t
LEFT JOIN entities AS e USING (qid)
GROUP BY t.qid, t.status, CASE WHEN t.qid IS NULL THEN t.surface END
ORDER BY mentions DESC, t.qid, label;
