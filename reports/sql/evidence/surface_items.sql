-- surface_items: a row is a surface with the item that it came to; surfaces whose item is not shown are left out.
CREATE OR REPLACE TEMP TABLE surface_items AS
SELECT s.language, s.topic, s.kind, s.surface, s.hallucinated, i.item
FROM surfaces AS s
INNER JOIN items AS i
    ON s.status = i.status
    AND s.qid IS NOT DISTINCT FROM i.qid
    AND (s.qid IS NOT NULL OR (s.language, s.topic, s.kind, s.surface) = (i.language, i.topic, i.kind, i.surface));
