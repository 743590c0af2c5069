-- A row is a query with its linked item, or the reason why there is none.
SELECT
    query_group.language,
    query_group.topic,
    query_group.kind,
    query.surface,
    CASE
        WHEN count.candidates IS NULL THEN 'no candidate'
        WHEN first.item IS NULL THEN 'no path'
        WHEN first.ambiguous THEN 'ambiguous'
        ELSE 'linked'
    END AS status,
    'Q' || first.item AS qid,
    match_name(first.strength) AS match,
    first.name AS matched,
    first.score,
    first.reached AS reached_kind,
    first.root,
    first.path,
    confidence.confidence,
    coalesce(count.candidates, 0) AS candidates,
    coalesce(first.survivors, 0) AS survivors,
    CASE WHEN first.item IS NULL THEN untried.reasons END AS unsearched
FROM queries AS query
JOIN query_group_codes AS query_group USING (query_group)
LEFT JOIN best_candidates AS first USING (query)
LEFT JOIN (SELECT query, count(*) AS candidates FROM found GROUP BY query) AS count USING (query)
LEFT JOIN (SELECT lookup, string_agg(DISTINCT reason, '; ' ORDER BY reason) AS reasons FROM unsearched GROUP BY lookup) AS untried
    ON untried.lookup = query.lookup
LEFT JOIN confidences AS confidence
    ON confidence.competition = CASE
        WHEN count.candidates > first.survivors THEN 'shared'
        WHEN first.survivors > 1 THEN 'rivals'
        ELSE 'alone'
    END
    AND confidence.match = CASE WHEN first.ambiguous THEN 'ambiguous' ELSE match_name(first.strength) END
ORDER BY query.query
