-- A row is where plain contexts of a data set are scored under a model's present setup: what a table of a paper is about.
SELECT DISTINCT s.model, s.dataset, s.form, s.language, s.culture, s.setting
FROM stored_scores AS s
SEMI JOIN scoring_models AS m ON s.model = m.model AND s.setup_id IS NOT DISTINCT FROM m.setup_id
WHERE s.status = 'ok' AND s.context_prefix IS NULL AND s.phrasing IS NULL AND s.dataset = $dataset
    AND ($model IS NULL OR s.model = $model)
    AND (len($cultures) = 0 OR list_contains($cultures, s.culture))
    AND (len($types) = 0 OR list_contains($types, s.entity_type))
    AND (len($languages) = 0 OR list_contains($languages, s.language))
ORDER BY ALL
