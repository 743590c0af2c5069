-- A row is an item that the study linked a surface to, with the number of its mentions that say so.
SELECT
    query.query, p.qid, p.rank,
    'surface' AS matched_by,
    'published' AS match,
    coalesce(p.label, p.surface) AS matched,
    CASE WHEN p.label IS NULL THEN p.language ELSE 'en' END AS matched_language,
    NULL AS reached_kind, NULL AS root, NULL AS path, NULL AS distance,
    coalesce(item.sitelinks, 0) AS sitelinks,
    'published for ' || p.mentions || ' mentions' || CASE WHEN p.rank > 1 THEN ', fewer than another item, or as many' ELSE '' END AS reason
FROM queries AS query
JOIN published_ranked AS p USING (language, topic, kind, surface)
LEFT JOIN wikidata.items AS item USING (item)
ORDER BY query.topic, query.language, query.kind, query.surface, query.name, query.english, p.rank
