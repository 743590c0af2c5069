-- A row is what an ask means, or why nothing.
SELECT
    heading.language,
    heading.topic,
    heading.kind,
    ask.surface,
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
    coalesce(first.survivors, 0) AS survivors
FROM asks AS ask
JOIN heading_codes AS heading USING (heading)
LEFT JOIN rivals AS first USING (ask)
LEFT JOIN (SELECT ask, count(*) AS candidates FROM found GROUP BY ask) AS count USING (ask)
LEFT JOIN confidences AS confidence
    ON confidence.company = CASE
        WHEN count.candidates > first.survivors THEN 'shared'
        WHEN first.survivors > 1 THEN 'rivals'
        ELSE 'alone'
    END
    AND confidence.match = CASE WHEN first.ambiguous THEN 'ambiguous' ELSE match_name(first.strength) END
ORDER BY ask.ask
