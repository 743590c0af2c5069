-- A row is an item that is not held whole, with a name that it was found by: it belongs to no topic, and a name that it bears is
-- not its topic's alone.
SELECT DISTINCT coalesce(redirect.target, hit.item) AS item, hit.language, hit.term
FROM (SELECT language, term, unnest(hits) AS item FROM draft.fetched WHERE way = 'name') AS hit
LEFT JOIN draft.redirects AS redirect USING (item)
WHERE coalesce(redirect.target, hit.item) NOT IN (
    SELECT item FROM draft.items UNION ALL SELECT unnest(hits) FROM draft.fetched WHERE way = 'number'
)
ORDER BY ALL
