-- found: drop hits that only other queries returned, so that a link does not depend on the other queries.
DELETE FROM found
WHERE (query, item) NOT IN (
    SELECT queries.query, api_hits.item FROM queries JOIN api_hits USING (lookup)
    UNION ALL
    SELECT queries.query, api_hits.item FROM queries JOIN expansions ON expansions.own = queries.lookup JOIN api_hits ON api_hits.lookup = expansions.lookup
);
