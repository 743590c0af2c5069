-- A row is a surface with the item that the study linked most of its mentions to, or without one.
SELECT
    queries.language, queries.topic, queries.kind, queries.surface,
    CASE WHEN first.qid IS NULL THEN 'no candidate' ELSE 'linked' END AS status,
    first.qid,
    CASE WHEN first.qid IS NOT NULL THEN 'published' END AS match,
    CASE WHEN first.qid IS NOT NULL THEN coalesce(first.label, queries.surface) END AS matched,
    NULL AS score, NULL AS reached_kind, NULL AS root, NULL AS path, NULL AS confidence,
    coalesce(first.candidates, 0) AS candidates,
    coalesce(first.candidates, 0) AS survivors,
    NULL AS unsearched
FROM queries
LEFT JOIN (FROM published_ranked WHERE rank = 1) AS first USING (language, topic, kind, surface)
ORDER BY queries.topic, queries.language, queries.kind, queries.surface
