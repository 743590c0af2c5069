-- changed_links: a row is a query whose link another snapshot changes (`snapshot_links`): another item, none, or other countries.
--   An item that was merged into another one is the same item under another number.
--   change: 'not found': no item of the topic bears its names there; 'now ambiguous': several do; 'another item'; 'merged': the item is
--     part of another one there; 'linked anew': only there; 'other countries' of one item
--   snapshot_status: the status of its link there
--   snapshot_qid: the item that it is linked to there
--   countries: those of its item, ISO 3166
--   snapshot_countries: those of its item there
--   mentions: how many current mentions ask it
CREATE VIEW changed_links AS
SELECT
    s.snapshot, s.identity, CASE
        WHEN s.status = 'ambiguous' THEN 'now ambiguous'
        WHEN s.status <> 'linked' THEN 'not found'
        WHEN l.status <> 'linked' THEN 'linked anew'
        WHEN s.qid <> l.qid AND NOT list_contains(s.merged, l.qid) THEN 'another item'
        WHEN coalesce(c.countries, []) <> list_sort(s.countries) THEN 'other countries'
        ELSE 'merged'
    END AS change,
    l.language, l.topic, l.kind, l.surface, l.status, if(l.status = 'linked', l.qid, NULL) AS qid, if(l.status = 'linked', coalesce(c.countries, []), []) AS countries,
    s.status AS snapshot_status, if(s.status = 'linked', s.qid, NULL) AS snapshot_qid,
    if(s.status = 'linked', s.countries, []) AS snapshot_countries,
    coalesce(m.mentions, 0) AS mentions, l.query
FROM links AS l
INNER JOIN snapshot_links AS s USING (query)
LEFT JOIN (
    SELECT qid, list(DISTINCT country ORDER BY country) AS countries FROM associations GROUP BY qid
) AS c ON l.qid = c.qid
LEFT JOIN (SELECT query, count(*) AS mentions FROM mentions WHERE counted AND NOT hallucinated GROUP BY query) AS m ON l.query = m.query
WHERE (l.status = 'linked') <> (s.status = 'linked')
   OR (l.status = 'linked' AND (l.qid <> s.qid OR coalesce(c.countries, []) <> list_sort(s.countries)));
