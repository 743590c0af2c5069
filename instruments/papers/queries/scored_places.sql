-- A row is where plain contexts of a data set are scored under a model's present setup, and the types of entities there: what a
-- table of a paper is about.
SELECT s.model, c.dataset, c.form, c.language, c.culture, c.setting, list(DISTINCT c.entity_type ORDER BY c.entity_type) AS types
FROM stored_scores AS s
INNER JOIN wanted_scores AS w USING (request_id, model, topic)
INNER JOIN stored_dataset_contexts AS c ON w.context_id = c.context_id
WHERE s.status = 'ok' AND c.context_prefix IS NULL AND c.phrasing IS NULL AND c.dataset = $dataset
GROUP BY ALL
ORDER BY ALL
