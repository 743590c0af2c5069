-- own_hits: a row is a query with an item that was returned for it, for another form of it or for a part of it.
CREATE MACRO IF NOT EXISTS own_hits() AS TABLE
    SELECT queries.query, api_hits.item FROM queries JOIN api_hits USING (lookup)
    UNION ALL
    SELECT queries.query, api_hits.item
    FROM queries
    JOIN expansions ON expansions.own = queries.lookup
    JOIN api_hits ON api_hits.lookup = expansions.lookup;

-- is_own_hit: was the item returned for the query itself? With an index always.
CREATE MACRO IF NOT EXISTS is_own_hit(of_query, of_item) AS (of_query, of_item) IN (SELECT (query, item) FROM own_hits());

-- found: drop hits that only other queries returned, so that a link does not depend on the other queries.
DELETE FROM found
WHERE (query, item) NOT IN (SELECT (query, item) FROM own_hits());
