-- A row is an entity that one reading of the data set has for such contexts.
WITH read AS (
    SELECT *, CASE WHEN $as_published THEN published_gender ELSE gender END AS read_gender
    FROM stored_dataset_entities
    WHERE dataset = $dataset AND language = $language AND entity_type = $entity_type
        AND (reference OR culture = $culture) AND ($as_published OR NOT left_out)
        AND ($source_language IS NULL OR list_contains(source_languages, $source_language))
)
SELECT culture = $culture AS native, entity_id, coalesce(read_gender, '') AS gender
FROM read
WHERE is_of_gender(read_gender, $gender)
ORDER BY ALL
