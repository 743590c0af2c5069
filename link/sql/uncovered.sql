-- A row is a topic and a country of which no member of the topic can come: none of what origins.sql reads of a member, or of
-- its makers, leads there by `wider` (wider.sql) or by what replaced a state. All ways count, as a number that is missing
-- where items are linked does more harm than a 0; and of a divided state, all heirs.
WITH RECURSIVE of_topic AS (
    SELECT DISTINCT topic_scopes.topic, members.item FROM members JOIN topic_scopes USING (scope)
),
standing AS (
    SELECT item, unnest(coalesce(countries, heirs)) AS country FROM states
),
above AS (
    FROM wider UNION ALL FROM wikidata.claims WHERE property = 'P1366'
),
climb(topic, here, steps) AS (
    SELECT topic, target, 0
    FROM (
        SELECT of_topic.topic, claim.target FROM of_topic JOIN origin_claims AS claim USING (item)
        UNION
        SELECT of_topic.topic, claim.target
        FROM of_topic JOIN made USING (item) JOIN wikidata.claims AS claim ON claim.item = made.maker
        WHERE claim.property IN ('P27', 'P495', 'P19')
    )
    UNION
    SELECT climb.topic, above.target, climb.steps + 1
    FROM climb JOIN above ON above.item = climb.here
    WHERE climb.steps < 8 AND climb.here NOT IN (SELECT item FROM states WHERE countries IS NOT NULL)
)
SELECT topic, country
FROM (FROM (SELECT DISTINCT topic FROM topic_scopes), (SELECT DISTINCT country FROM standing))
ANTI JOIN (SELECT topic, country FROM climb JOIN standing ON standing.item = climb.here) AS covered USING (topic, country)
ORDER BY country, topic
