-- search: a row is an item, or a surface without one, that has $needle in a name; how often it was mentioned, and where.
WITH named AS (
    SELECT qid, label, description
    FROM entities
    WHERE contains(lower(label), lower($needle)) OR contains(lower(map_values(labels)::VARCHAR), lower($needle))
        OR qid = upper($needle)
),
found AS (
    SELECT l.language, l.topic, l.kind, l.surface, l.status, l.qid
    FROM links AS l
    WHERE contains(lower(l.surface), lower($needle)) OR l.qid IN (SELECT qid FROM named)
)
SELECT
    f.qid,
    coalesce(any_value(e.label), any_value(f.surface)) AS label,
    any_value(e.description) AS description,
    f.status,
    count(*) AS mentions,
    count(DISTINCT m.model) AS models,
    list(DISTINCT m.language ORDER BY m.language) AS languages,
    list(DISTINCT m.surface ORDER BY m.surface)[:8] AS surfaces
FROM found AS f
INNER JOIN mentions AS m USING (language, topic, kind, surface)
LEFT JOIN entities AS e ON f.qid = e.qid
WHERE m.counted AND NOT m.hallucinated
GROUP BY f.qid, f.status, CASE WHEN f.qid IS NULL THEN f.surface END
ORDER BY mentions DESC, f.qid, label;
