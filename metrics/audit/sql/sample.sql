-- A row: a counted mention of a response that was drawn for the audit, with what became of it; or, with an `ordinal` of
-- NULL, the response itself, of which the judge says how many mentions it lacks. Responses are drawn by a hash of their
-- number and the seed: $per of each language and topic, among those whose mentions were all looked up.
WITH drawn AS (
    SELECT e.extraction_id, e.response_id, e.language, e.topic
    FROM extractions AS e
    ANTI JOIN (SELECT extraction_id FROM linked_mentions WHERE status IS NULL) AS awaiting USING (extraction_id)
    WHERE e.status = 'ok'
    QUALIFY row_number() OVER (
        PARTITION BY e.language, e.topic ORDER BY sha256(concat($seed::VARCHAR, ' ', e.response_id)), e.response_id
    ) <= $per
)
SELECT
    d.extraction_id, m.ordinal, r.model, d.language, d.topic, r.condition, r.country, p.text AS prompt,
    CASE
        WHEN m.start IS NULL THEN r.text
        ELSE concat(r.text[1:m.start], '⟦', r.text[m.start + 1:m."end"], '⟧', r.text[m."end" + 1:])
    END AS response,
    m.surface, m.kind, m.granularity, m.status, m.qid, e.label, e.description
FROM drawn AS d
INNER JOIN responses AS r USING (response_id)
INNER JOIN prompts AS p ON r.prompt_id = p.prompt_id
LEFT JOIN (
    SELECT extraction_id, ordinal, surface, kind, granularity, start, "end", status, qid FROM linked_mentions
    UNION ALL
    SELECT extraction_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM drawn
) AS m USING (extraction_id)
LEFT JOIN entities AS e ON m.qid = e.qid AND m.status = 'linked'
ORDER BY d.language, d.topic, sha256(concat($seed::VARCHAR, ' ', d.response_id)), m.ordinal NULLS LAST
