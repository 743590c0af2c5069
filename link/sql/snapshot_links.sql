-- A row is what a query means with another snapshot, the countries that the item has there, and what was merged into it.
SELECT
    $snapshot AS snapshot, $identity AS identity, $date AS date, links.query, language, topic, kind, surface, status, links.qid,
    coalesce(origins.countries, []) AS countries, coalesce(moved.merged, []) AS merged
FROM links
LEFT JOIN (
    SELECT qid, list(DISTINCT country ORDER BY country) AS countries FROM entity_countries WHERE country IS NOT NULL GROUP BY qid
) AS origins ON origins.qid = links.qid
LEFT JOIN (
    SELECT 'Q' || target AS qid, list('Q' || item ORDER BY item) AS merged FROM wikidata.redirects GROUP BY target
) AS moved ON moved.qid = links.qid
ORDER BY topic, language, kind, surface, links.query
