-- One row: how many distinct queries of the run's current mentions have a link (or a reason for none), and how many not yet.
SELECT count(*) FILTER (WHERE linked), count(*) FILTER (WHERE NOT linked)
FROM (
    SELECT DISTINCT m.query, l.query IS NOT NULL AS linked
    FROM mentions AS m
    LEFT JOIN links AS l ON l.query = m.query
    WHERE m.counted AND NOT m.hallucinated
)
