-- A row is a query with the item that the study linked most mentions of its surface to, or without one.
SELECT
    query.query, query.language, query.topic, query.kind, query.surface, query.name, query.english,
    CASE WHEN first.qid IS NULL THEN 'no candidate' ELSE 'linked' END AS status,
    first.qid,
    CASE WHEN first.qid IS NOT NULL THEN 'surface' END AS matched_by,
    CASE WHEN first.qid IS NOT NULL THEN 'published' END AS match,
    CASE WHEN first.qid IS NOT NULL THEN coalesce(first.label, query.surface) END AS matched,
    CASE WHEN first.qid IS NOT NULL THEN false END AS only_english,
    NULL AS reached_kind, NULL AS root, NULL AS path,
    coalesce(first.candidates, 0) AS candidates,
    coalesce(first.candidates, 0) AS survivors
FROM queries AS query
LEFT JOIN (FROM published_ranked WHERE rank = 1) AS first USING (language, topic, kind, surface)
ORDER BY query.topic, query.language, query.kind, query.surface, query.name, query.english
