-- A row is a kind of plain contexts that one reading of the data set has in a place, and their ids: those that the same entities
-- fit.
SELECT entity_type, coalesce(gender, '') AS gender, source_language, list(context_id ORDER BY context_id) AS ids
FROM stored_dataset_contexts
WHERE dataset = $dataset AND context_prefix IS NULL AND phrasing IS NULL
    AND form = $form AND language = $language AND culture = $culture AND setting = $setting
    AND ($as_published OR NOT (left_out OR (starts_with_gap AND form = 'causal')))
GROUP BY ALL
ORDER BY ALL
