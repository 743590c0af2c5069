-- search: a row is an item, or a surface without one, that has $needle in a name; how often it was mentioned, and where.
-- Of an item that has it in any name all mentions count, and a mention that was not looked up yet is found by its surface.
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
told AS (
    SELECT language, topic, kind, surface, model, count(*) AS mentions
    FROM mentions
    WHERE counted AND NOT hallucinated
    GROUP BY ALL
)
SELECT
    l.qid,
    coalesce(any_value(e.label), any_value(t.surface)) AS label,
    any_value(e.description) AS description,
    coalesce(l.status, 'awaiting') AS status,
    sum(t.mentions)::BIGINT AS mentions,
    count(DISTINCT t.model) AS models,
    list(DISTINCT t.language ORDER BY t.language) AS languages,
    list(DISTINCT t.surface ORDER BY t.surface)[:8] AS surfaces
FROM told AS t
LEFT JOIN links AS l USING (language, topic, kind, surface)
LEFT JOIN entities AS e ON l.qid = e.qid
WHERE l.qid IN (FROM named) OR (l.qid IS NULL AND contains(lower(t.surface), lower($needle)))
GROUP BY l.qid, l.status, CASE WHEN l.qid IS NULL THEN t.surface END
ORDER BY mentions DESC, l.qid, label;
