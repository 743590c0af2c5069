-- A row: an item that a response of a cell of this topic mentions.
SELECT l.cell, l.response, l.item
FROM linked_items AS l
INNER JOIN measured_cells AS c USING (cell)
WHERE c.topic = $topic
ORDER BY ALL;
