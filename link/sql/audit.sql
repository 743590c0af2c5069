-- A row is a gold mention of `gold` with the linker's answer: the best link over the kinds that were queried, which are
-- the rows of `gold_kinds`. Links are ranked as the linker ranks: the English name last, then by match and what matched, distance to the root; then
-- linked before ambiguous, and by the order of the topic's kinds.
WITH gold_expected AS (
    SELECT expected.number, list(DISTINCT 'Q' || expected.item ORDER BY 'Q' || expected.item) AS expected,
        bool_or(item.item IS NOT NULL) AS in_snapshot, bool_or(member.item IS NOT NULL) AS in_topic
    FROM gold_items AS expected
    LEFT JOIN wikidata.items AS item USING (item)
    LEFT JOIN (SELECT DISTINCT topic, item FROM members JOIN topic_scopes USING (scope)) AS member USING (topic, item)
    GROUP BY expected.number
),
answer AS (
    SELECT gold.number, link.*
    FROM gold
    JOIN gold_kinds AS asked USING (number)
    JOIN links AS link USING (query)
    QUALIFY row_number() OVER (
        PARTITION BY gold.number
        ORDER BY
            link.qid IS NULL, link.matched_by = 'english', list_position($matches, link.match), list_position($matched_by, link.matched_by), len(link.path),
            list_position($statuses, link.status), asked.place
    ) = 1
),
-- The linker's reason for the expected item, preferably in the kind of the answer.
reasons AS (
    SELECT gold.number,
        min_by(candidate.reason, (candidate.query <> answer.query, candidate.rank IS NULL, candidate.rank)) AS reason
    FROM gold
    JOIN gold_expected USING (number)
    JOIN answer USING (number)
    JOIN gold_kinds AS asked USING (number)
    JOIN candidates AS candidate ON candidate.query = asked.query AND list_contains(gold_expected.expected, candidate.qid)
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
    answer.matched_by,
    answer.matched,
    answer.english_qid,
    answer.candidates,
    answer.survivors,
    reasons.reason
FROM gold
JOIN answer USING (number)
LEFT JOIN gold_expected USING (number)
LEFT JOIN reasons USING (number)
ORDER BY gold.number
