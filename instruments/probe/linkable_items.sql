-- A row is an item of the questions of a topic in a language, as models write it most often, with how often it occurs.
-- Items that repeat the inspection prompt, the culture's name or the question say nothing of a layer, and are left out.
SELECT language, topic AS question_topic, item_key, arg_max(item, (times, item)) AS item, sum(times)::BIGINT AS occurrences
FROM (
    SELECT p.language, q.topic, i.item_key, i.item, count(*) AS times
    FROM probe_items AS i
    INNER JOIN probes AS p ON i.probe_id = p.probe_id
    INNER JOIN probe_questions AS q ON p.question_key = q.question_key
    WHERE i.rejected IS NULL AND p.arm = 'patched' AND coalesce(i.echo, 'answer') = 'answer'
    GROUP BY ALL
)
GROUP BY ALL
ORDER BY ALL
