-- A row: a judged mention as the correction of the metrics needs it. `weight` is 1 over the mentions of its item in its
-- cell, so that each item of a cell counts once, however often it is mentioned. `link_judged` and
-- `link_right` are of right mentions alone: a wrong one is no entity, whatever stands in `link`.
WITH sizes AS (
    SELECT model, language, topic, condition, country, qid, linked FROM cell_items WHERE qid IS NOT NULL
)
SELECT
    a.language, a.response_id,
    a.granularity AS label, a.mention = 'right' AS mention_right, a.specific,
    coalesce(a.status = 'linked', false) AS linked,
    a.mention = 'right' AND a.link IS NOT NULL AS link_judged,
    coalesce(a.mention = 'right' AND a.link = 'right', false) AS link_right,
    a.condition = 'explicit' AS explicit, s.qid IS NOT NULL AS associated, 1 / nullif(n.linked, 0) AS weight
FROM audited_mentions AS a
LEFT JOIN associations AS s ON a.qid = s.qid AND a.country = s.country
LEFT JOIN sizes AS n
    ON a.model = n.model AND a.language = n.language AND a.topic = n.topic AND a.condition = n.condition
    AND a.country IS NOT DISTINCT FROM n.country AND a.qid = n.qid
WHERE a.mention IS NOT NULL
ORDER BY a.language, a.response_id, a.ordinal
