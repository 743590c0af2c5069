-- ranked: a row is a candidate that reaches the topic, by its best scope: that of the query's own kind, else the nearest.
-- `rank`: texts of the mention that match without the key come first, then own kind, how well the name matches, the distance to
-- the root, sitelinks (unknown ones last), and the smaller item number.
CREATE TABLE ranked AS
WITH reached AS (
    SELECT found.query, found.item, found.rank_key, found.tier, found.english_grade,
        member.scope <> query.own AS other_kind, CASE WHEN member.scope = query.own THEN query.kind ELSE scope.kind END AS reached_kind,
        list_has_any(scope.roots, own.roots) AS akin,
        member.distance, member.root, member.path, item.sitelinks
    FROM found
    JOIN queries AS query USING (query)
    JOIN topic_scopes AS scope ON scope.topic = query.topic
    JOIN topic_scopes AS own ON own.topic = query.topic AND own.scope = query.own
    JOIN members AS member ON member.item = found.item AND member.scope = scope.scope
    LEFT JOIN wikidata.items AS item ON item.item = found.item
    QUALIFY row_number() OVER (
        PARTITION BY found.query, found.item ORDER BY other_kind, member.distance, member.scope
    ) = 1
)
SELECT *,
    row_number() OVER (
        PARTITION BY query ORDER BY by_key_or_english, other_kind, rank_key, distance, sitelinks DESC NULLS LAST, item
    ) AS rank
FROM (SELECT *, rank_key[1] OR rank_key[2] = 2 AS by_key_or_english FROM reached);

-- twins: a row is a query whose first candidate has rivals that are as good. A rival is as good with more than half the sitelinks
-- (both plus one: 1 against 0 decides, 0 against 0 does not). Unknown sitelinks decide nothing. Subclasses and instances of the
-- first are no rivals, for a name that both have means the general one (car, and passenger car). Nor is an item of another kind,
-- unless the two kinds have a root in common (dish and ingredient: food): then no class tells the two apart.
-- `decided`: the rank of the only one of them that the English name matches; NULL where it matches several, or not one.
CREATE TABLE twins AS
SELECT query, CASE WHEN (first_english IS NOT NULL)::INTEGER + len(english_ranks) = 1 THEN coalesce(english_ranks[1], 1) END AS decided
FROM (
    SELECT query, any_value(first.english_grade) AS first_english,
        coalesce(list(second.rank) FILTER (second.english_grade IS NOT NULL), []) AS english_ranks
    FROM ranked AS first
    JOIN ranked AS second USING (query)
    WHERE first.rank = 1 AND second.rank > 1 AND NOT list_contains(second.path, first.item)
        AND (second.other_kind = first.other_kind OR second.akin) AND second.rank_key = first.rank_key AND second.distance <= first.distance + 1
        AND coalesce(first.sitelinks + 1 < 2 * (second.sitelinks + 1), true)
    GROUP BY query
);

-- The twin that the English name decides for comes first, before those that were better by their prominence.
UPDATE ranked SET rank = CASE WHEN rank = decided THEN 1 ELSE rank + 1 END
FROM twins WHERE twins.query = ranked.query AND rank <= decided;

-- chosen: a row is a query with its first candidate, and why it is ambiguous, if it is. `close`: a twin is as good, and the
-- English name does not decide between them (`by_english`). `outside`: an item outside the topic bears the name more surely.
-- `contradicted`: the English name alone leads here, and the mention's own words lead elsewhere, in the topic or outside it.
-- `english_item`: where own words lead here and the English name does not, the item of the topic that this matches best.
CREATE TABLE chosen AS
WITH english AS (
    SELECT query, min_by(item, (english_grade = 2, other_kind, english_grade, distance, -coalesce(sitelinks::BIGINT, -1), item)) AS item
    FROM ranked
    WHERE english_grade IS NOT NULL
    GROUP BY query
),
outside AS (
    SELECT found.query, min(found.tier) FILTER (ranked.item IS NULL) AS tier, bool_or(NOT found.only_english) AS by_own_words
    FROM found LEFT JOIN ranked USING (query, item)
    GROUP BY found.query
)
SELECT first.*, count.survivors,
    twins.query IS NOT NULL AND twins.decided IS NULL AS close,
    twins.decided IS NOT NULL AS by_english,
    CASE WHEN first.english_grade IS NULL THEN english.item END AS english_item,
    coalesce(outside.tier < first.tier, false) AS outside,
    coalesce(first.rank_key[3] = 2 AND outside.by_own_words, false) AS contradicted
FROM ranked AS first
JOIN (SELECT query, count(*) AS survivors FROM ranked GROUP BY query) AS count USING (query)
LEFT JOIN twins ON twins.query = first.query
LEFT JOIN english ON english.query = first.query
LEFT JOIN outside ON outside.query = first.query
WHERE first.rank = 1;

-- linked: a row is an item that is the first candidate of some query.
CREATE TABLE linked AS SELECT DISTINCT item FROM chosen;

-- What the numbers of `found` mean.
CREATE MACRO matched_by(rank_key) AS ['surface', 'name', 'english'][rank_key[3] + 1];
CREATE MACRO match_of(rank_key) AS ['exact', 'normalised', 'key'][rank_key[2] + 1];
CREATE MACRO match_words(rank_key) AS format(
    '{} match of the {} with {}', match_of(rank_key), matched_by(rank_key), CASE WHEN rank_key[5] THEN 'an alias' ELSE 'a label' END
);
