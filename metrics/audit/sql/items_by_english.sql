-- A row: a language. `items`: the distinct linked items of its cells, added up. `links`: how often a response names an item by the
-- extractor's English name alone. `seen`: of each item that no response of its cell names otherwise, how many name it so, in
-- ascending order.
WITH meanings AS (
    SELECT query, substr(qid, 2)::BIGINT AS item, coalesce(matched_by = 'english', false) AS english
    FROM links
    WHERE status = 'linked'
),
named AS (
    SELECT m.cell, m.prompt, m.sample, l.item, bool_and(l.english) AS english
    FROM numbered_mentions AS m
    INNER JOIN meanings AS l USING (query)
    WHERE m.counts
    GROUP BY ALL
),
items AS (
    SELECT c.language, count(*) AS seen, count(*) FILTER (n.english) AS links, bool_and(n.english) AS english
    FROM named AS n
    INNER JOIN numbered_cells AS c USING (cell)
    GROUP BY n.cell, n.item, c.language
)
SELECT
    language, count(*) AS items, sum(links)::BIGINT AS links,
    coalesce(list(seen ORDER BY seen) FILTER (english), []) AS seen
FROM items
GROUP BY language
ORDER BY language
