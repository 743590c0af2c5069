-- marks: a row is a mention in a response that is shown: its place in the text and its item (-1: an item that is not in
-- the table). Hallucinated mentions have no place.
SELECT s.number, m.start, m."end", coalesce(i.item, -1) AS item
FROM shown_responses AS s
INNER JOIN counted_mentions AS m USING (response_id, prompt_id, language, topic)
LEFT JOIN surface_items AS i USING (language, topic, kind, surface, hallucinated)
ORDER BY s.number, m.start, m."end", i.item;
