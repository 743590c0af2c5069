-- item_cells: a row is how often an item is mentioned in a cell.
CREATE OR REPLACE TEMP TABLE item_cells AS
WITH counted AS (
    SELECT model, language, topic, condition, country, kind, surface, hallucinated, count(*) AS mentions
    FROM counted_mentions
    GROUP BY ALL
)
SELECT item, model, language, topic, condition, country, sum(mentions)::BIGINT AS mentions
FROM counted
INNER JOIN surface_items USING (language, topic, kind, surface, hallucinated)
GROUP BY ALL;
