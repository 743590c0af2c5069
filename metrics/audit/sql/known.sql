-- A row: a counted mention of one of $extractions with the item that it is linked to; or, with an `ordinal` of NULL, the
-- extraction itself.
SELECT extraction_id, ordinal, language, topic, CASE WHEN status = 'linked' THEN qid END AS qid
FROM linked_mentions
WHERE list_contains($extractions, extraction_id)
UNION ALL
SELECT extraction_id, NULL, language, topic, NULL
FROM extractions
WHERE list_contains($extractions, extraction_id)
