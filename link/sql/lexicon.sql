-- A row is a name by which a text may mention an item of the topic, with the most likely kind: the kind assigned by hand,
-- else the more specific kind, then the nearer one. Of several items with the same name the first is chosen as the linker
-- ranks: by name (own language, label, alias, English), kind, distance and sitelinks.
WITH reach AS (
    SELECT reached.item, kinds.kind, kinds.granularity, kinds.place, reached.distance
    FROM members AS reached
    JOIN topic_kinds AS kinds USING (scope)
    LEFT JOIN (SELECT item, list(kind) AS kinds FROM wikidata.kinds WHERE topic = $topic GROUP BY item) AS hand
        ON hand.item = reached.item
    WHERE hand.kinds IS NULL OR list_contains(hand.kinds, kinds.kind)
)
SELECT
    name.name AS surface,
    min_by(
        {'kind': reach.kind, 'qid': 'Q' || reach.item},
        (
            chain.english, name.kind = 'alias', -reach.granularity, reach.distance,
            -coalesce(item.sitelinks, 0)::BIGINT, reach.item, reach.place
        )
    ) AS best
FROM reach
JOIN wikidata.names AS name ON name.item = reach.item
JOIN lexicon_chain AS chain ON chain.name_language = name.language
LEFT JOIN wikidata.items AS item ON item.item = reach.item
GROUP BY name.name
ORDER BY surface
