-- A row is the item that a study linked a query to.
SELECT
    query.query, 'Q' || found.item AS qid, 1 AS rank, 'surface' AS matched_by, 'published' AS match,
    coalesce(found.label, query.surface) AS matched, CASE WHEN found.label IS NULL THEN query.language ELSE 'en' END AS matched_language,
    NULL AS reached_kind, NULL AS root, NULL AS path, NULL AS distance,
    item.sitelinks, 'published' AS reason
FROM queries AS query
JOIN published_found AS found USING (query)
LEFT JOIN wikidata.items AS item USING (item)
ORDER BY query.query
