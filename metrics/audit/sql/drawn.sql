-- A row: a response that was drawn for judges, by a hash of its number: $per of each language and topic, or of $language
-- and $topic alone where these are not empty, among those whose mentions were all looked up.
SELECT extraction_id
FROM extractions
ANTI JOIN (SELECT extraction_id FROM linked_mentions WHERE status IS NULL) AS awaiting USING (extraction_id)
WHERE status = 'ok' AND ($language = '' OR language = $language) AND ($topic = '' OR topic = $topic)
QUALIFY row_number() OVER (PARTITION BY language, topic ORDER BY sha256(response_id), response_id) <= $per
ORDER BY language, topic, sha256(response_id), extraction_id
