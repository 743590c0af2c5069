-- A row is where plain contexts of a data set are scored under a model's present setup: what a table of a paper is about.
SELECT DISTINCT s.model, c.dataset, c.form, c.language, c.culture, c.setting
FROM stored_scores AS s
INNER JOIN wanted_scores AS w USING (request_id, model, topic)
INNER JOIN stored_dataset_contexts AS c ON w.context_id = c.context_id
WHERE s.status = 'ok' AND c.context_prefix IS NULL AND c.phrasing IS NULL AND c.dataset = $dataset
    AND ($model IS NULL OR s.model = $model)
    AND (len($cultures) = 0 OR list_contains($cultures, c.culture))
    AND (len($types) = 0 OR list_contains($types, c.entity_type))
    AND (len($languages) = 0 OR list_contains($languages, c.language))
ORDER BY ALL
