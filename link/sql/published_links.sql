-- A row is a query with the item that a study linked it to, or without one.
SELECT
    query.query, query.language, query.topic, query.kind, query.surface, query.name, query.english,
    CASE WHEN found.item IS NULL THEN 'no candidate' ELSE 'linked' END AS status,
    'Q' || found.item AS qid,
    CASE WHEN found.item IS NOT NULL THEN 'surface' END AS matched_by,
    CASE WHEN found.item IS NOT NULL THEN 'published' END AS match,
    CASE WHEN found.item IS NOT NULL THEN coalesce(found.label, query.surface) END AS matched,
    CASE WHEN found.item IS NOT NULL THEN false END AS only_english,
    NULL AS english_qid,
    NULL AS reached_kind, NULL AS root, NULL AS path,
    (found.item IS NOT NULL)::BIGINT AS candidates,
    (found.item IS NOT NULL)::BIGINT AS survivors
FROM queries AS query
LEFT JOIN published_found AS found USING (query)
ORDER BY query.query
