-- A row is an item that the study linked a surface to, with the number of its mentions that say so.
SELECT
    p.language, p.topic, p.kind, p.surface, p.qid, p.rank,
    'published' AS match,
    coalesce(p.label, p.surface) AS matched,
    CASE WHEN p.label IS NULL THEN p.language ELSE 'en' END AS matched_language,
    100.0 AS score,
    NULL AS reached_kind, NULL AS root, NULL AS path, NULL AS distance,
    coalesce(item.sitelinks, 0) AS sitelinks,
    'published for ' || p.mentions || ' mentions' || CASE WHEN p.rank > 1 THEN ', fewer than another item, or as many' ELSE '' END AS reason
FROM published_ranked AS p
LEFT JOIN wikidata.items AS item USING (item)
ORDER BY p.topic, p.language, p.kind, p.surface, p.rank
