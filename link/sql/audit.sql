-- A row is a gold mention of `gold` with the linker's answer: the best link over the kinds that were queried, which are
-- the rows of `gold_kinds`. Links are ranked as the linker ranks: by match, similarity, distance to the root; then linked
-- before ambiguous, and by the order of the topic's kinds. `gold_members` holds the expected items that belong to one of
-- their topic's kinds.
WITH gold_expected AS (
    SELECT wanted.number, list('Q' || wanted.item ORDER BY wanted.item) AS expected,
        bool_or(item.item IS NOT NULL) AS in_snapshot, bool_or(member.item IS NOT NULL) AS in_topic
    FROM gold_items AS wanted
    LEFT JOIN wikidata.items AS item USING (item)
    LEFT JOIN gold_members AS member USING (topic, item)
    GROUP BY wanted.number
),
answer AS (
    SELECT gold.number, link.*
    FROM gold
    JOIN gold_kinds AS asked USING (number)
    JOIN links AS link
        ON link.language = gold.language AND link.topic = gold.topic AND link.kind = asked.kind
        AND link.surface = gold.surface
    QUALIFY row_number() OVER (
        PARTITION BY gold.number
        ORDER BY
            link.qid IS NULL, coalesce(list_position($matches, link.match), 99), link.score DESC, len(link.path),
            coalesce(list_position($statuses, link.status), 99), asked.place
    ) = 1
),
-- The linker's reason for the expected item, preferably in the kind of the answer.
said AS (
    SELECT gold.number, min_by(candidate.reason, (candidate.kind <> answer.kind, candidate.rank IS NULL, candidate.rank))
        AS reason
    FROM gold
    JOIN gold_expected USING (number)
    JOIN answer USING (number)
    JOIN gold_kinds AS asked USING (number)
    JOIN candidates AS candidate
        ON candidate.language = gold.language AND candidate.topic = gold.topic AND candidate.kind = asked.kind
        AND candidate.surface = gold.surface AND list_contains(gold_expected.expected, candidate.qid)
    GROUP BY gold.number
)
SELECT
    gold.number,
    coalesce(gold_expected.expected, []) AS expected,
    coalesce(gold_expected.in_snapshot, false) AS in_snapshot,
    coalesce(gold_expected.in_topic, false) AS in_topic,
    answer.kind,
    answer.status,
    answer.qid,
    answer.match,
    answer.matched,
    answer.candidates,
    answer.survivors,
    said.reason
FROM gold
JOIN answer USING (number)
LEFT JOIN gold_expected USING (number)
LEFT JOIN said USING (number)
ORDER BY gold.number
