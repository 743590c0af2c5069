-- gold_items: a row is an item that a gold mention may correctly be linked to, with redirects resolved.
CREATE TABLE gold_items AS
SELECT DISTINCT gold.number, gold.topic, coalesce(moved.target, gold.qid[2:]::UBIGINT) AS item
FROM (SELECT number, topic, unnest(expected) AS qid FROM gold) AS gold
LEFT JOIN wikidata.redirects AS moved ON moved.item = gold.qid[2:]::UBIGINT;
