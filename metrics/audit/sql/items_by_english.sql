-- A row: a language. `items`: the distinct linked items of its cells, added up. `links`: how often a response names an item by the
-- extractor's English name alone. `seen`: of each item that no response of its cell names otherwise, how many name it so, in
-- ascending order.
WITH items AS (
    SELECT c.language, count(*) AS seen, count(*) FILTER (n.by_english) AS links, bool_and(n.by_english) AS english
    FROM named_items AS n
    INNER JOIN numbered_cells AS c USING (cell)
    GROUP BY n.cell, n.item, c.language
)
SELECT
    language, count(*) AS items, sum(links)::BIGINT AS links,
    coalesce(list(seen ORDER BY seen) FILTER (english), []) AS seen
FROM items
GROUP BY language
ORDER BY language
