-- A row is a query with its linked item, or the reason why there is none.
SELECT
    query.query, query.language, query.topic, query.kind, query.surface, query.name, query.english,
    CASE
        WHEN count.candidates IS NULL THEN 'no candidate'
        WHEN first.item IS NULL THEN 'no path'
        WHEN first.close OR first.outside OR first.contradicted THEN 'ambiguous'
        ELSE 'linked'
    END AS status,
    'Q' || first.item AS qid,
    matched_by(first.rank_key) AS matched_by,
    match_of(first.rank_key) AS match,
    found.matched.name AS matched,
    found.english_name AND query.language IN (SELECT language FROM chain WHERE last_resort) AS only_english,
    'Q' || first.english_item AS english_qid,
    first.reached_kind,
    'Q' || first.root AS root,
    list_transform(first.path, lambda step: 'Q' || step) AS path,
    coalesce(count.candidates, 0) AS candidates,
    coalesce(first.survivors, 0) AS survivors
FROM queries AS query
LEFT JOIN chosen AS first USING (query)
LEFT JOIN found ON found.query = query.query AND found.item = first.item
LEFT JOIN (SELECT query, count(*) AS candidates FROM found GROUP BY query) AS count ON count.query = query.query
ORDER BY query.query
