-- A row: a share over all, of a language (`topic` NULL), or of a language and topic; first those over all. Where judgements
-- are left, so are all four shares.
WITH whats AS (
    SELECT * FROM (VALUES
        (1, 'extraction precision'), (2, 'extraction recall'), (3, 'link precision'), (4, 'link recall')
    ) AS s(place, what)
),
places AS (SELECT DISTINCT language, topic FROM audit_shares)
SELECT
    what, p.language, p.topic, coalesce(sum(hits), 0) AS hits, coalesce(sum(cases), 0) AS cases,
    coalesce(sum(disputed), 0)::BIGINT AS disputed,
    coalesce(sum(hits_at_worst), 0)::BIGINT AS hits_at_worst, coalesce(sum(cases_at_worst), 0)::BIGINT AS cases_at_worst,
    coalesce(sum(hits_at_best), 0)::BIGINT AS hits_at_best, coalesce(sum(cases_at_best), 0)::BIGINT AS cases_at_best
FROM places AS p
CROSS JOIN whats AS w
LEFT JOIN audit_shares AS s USING (language, topic, what)
GROUP BY GROUPING SETS ((w.place, what), (w.place, what, p.language), (w.place, what, p.language, p.topic))
ORDER BY p.topic IS NOT NULL, p.language NULLS FIRST, p.topic, w.place
