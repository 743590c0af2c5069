-- A row is an item of a question, with the texts that it is compared with: the question (Eq. 3 of CultureScope), culture and
-- topic, and the names of the other cultures of the region (its published code). That code leaves out less: see probe_judged.
SELECT DISTINCT
    p.language, p.dataset, p.culture, p.question_id, i.item_key, q.question,
    concat_ws(' ', p.culture, q.topic) AS culture_topic, coalesce(q.neighbours, []) AS neighbours
FROM probe_items AS i
INNER JOIN probes AS p ON i.probe_id = p.probe_id
INNER JOIN probe_questions AS q ON p.question_key = q.question_key
WHERE coalesce(i.rejected, 'repeated') IN ('repeated', 'cut off', 'no letter')
ORDER BY ALL
