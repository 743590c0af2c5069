-- One row: how many distinct surfaces of the run's current mentions have a link (or a reason for none), and how many not yet.
SELECT count(*) FILTER (WHERE linked), count(*) FILTER (WHERE NOT linked)
FROM (
    SELECT DISTINCT m.language, m.topic, m.kind, m.surface, l.surface IS NOT NULL AS linked
    FROM mentions AS m
    LEFT JOIN links AS l
        ON l.language = m.language AND l.topic = m.topic AND l.kind = m.kind AND l.surface = m.surface
    WHERE m.counted AND NOT m.hallucinated
)
