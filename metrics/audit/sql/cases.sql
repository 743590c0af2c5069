-- A row: a counted mention of $extraction with its link; or, last and with an `ordinal` of NULL, the response itself.
SELECT
    e.extraction_id, m.ordinal, e.language, e.topic, p.text AS prompt, r.text, m.start, m."end", m.surface, m.kind,
    m.granularity, m.status, CASE WHEN m.status = 'linked' THEN m.qid END AS item, i.label, i.description
FROM extractions AS e
INNER JOIN responses AS r USING (response_id)
INNER JOIN prompts AS p ON r.prompt_id = p.prompt_id
INNER JOIN (
    SELECT extraction_id, ordinal, surface, kind, granularity, start, "end", status, qid
    FROM linked_mentions WHERE extraction_id = $extraction
    UNION ALL
    SELECT $extraction, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
) AS m USING (extraction_id)
LEFT JOIN entities AS i ON m.qid = i.qid AND m.status = 'linked'
WHERE e.extraction_id = $extraction AND e.status = 'ok'
ORDER BY m.ordinal NULLS LAST
