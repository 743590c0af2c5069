-- A row is what a query means with another snapshot, and the countries that the item has there.
SELECT
    $snapshot AS snapshot, $identity AS identity, $date AS date, links.query, language, topic, kind, surface, status, links.qid,
    coalesce(origins.countries, []) AS countries
FROM links
LEFT JOIN (
    SELECT qid, list(DISTINCT country ORDER BY country) AS countries FROM entity_countries WHERE country IS NOT NULL GROUP BY qid
) AS origins ON origins.qid = links.qid
ORDER BY topic, language, kind, surface, links.query
