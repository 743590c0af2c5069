-- text_regions: a row is a model on a topic in a language and a label: how many of the texts that could be labelled have it.
-- Shares and intervals are computed from such counts, prompt by prompt.
SELECT model, language, condition, topic, label, count(*) AS texts
FROM text_regions
WHERE label IS NOT NULL
GROUP BY ALL
ORDER BY ALL
