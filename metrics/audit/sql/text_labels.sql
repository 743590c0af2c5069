-- A row: one of $extractions, and the label of its text by the items that it names.
SELECT e.extraction_id, any_value(t.label) AS label
FROM extractions AS e
INNER JOIN text_regions AS t USING (response_id)
WHERE list_contains($extractions, e.extraction_id) AND t.label IS NOT NULL
GROUP BY e.extraction_id
