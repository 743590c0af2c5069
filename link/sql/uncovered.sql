-- A row is a topic and a country of which no member of the topic can come. What is stated of members themselves is looked at
-- first; places, cuisines and makers only for what is left, as there are many of these in a dump.
WITH of_topic AS (
    SELECT DISTINCT topic_scopes.topic, members.item FROM members JOIN topic_scopes USING (scope)
),
standing AS (
    SELECT item, country FROM states UNION SELECT item, unnest(heirs) FROM divided
),
stated AS (
    SELECT DISTINCT of_topic.topic, standing.country
    FROM wikidata.claims AS claim
    JOIN standing ON standing.item = claim.target
    JOIN of_topic ON of_topic.item = claim.item
    WHERE claim.property IN ('P495', 'P27', 'P17')
),
rest AS MATERIALIZED (
    SELECT topic, country
    FROM (FROM (SELECT DISTINCT topic FROM topic_scopes), (SELECT DISTINCT country FROM standing))
    ANTI JOIN stated USING (topic, country)
),
places AS (
    SELECT item, country FROM standing SEMI JOIN rest USING (country)
    UNION
    SELECT claim.item, standing.country
    FROM wikidata.claims AS claim
    JOIN standing ON standing.item = claim.target
    SEMI JOIN rest ON rest.country = standing.country
    WHERE claim.property IN ('P17', 'P131', 'P495')
),
origins AS (
    SELECT claim.item, places.country
    FROM wikidata.claims AS claim JOIN places ON places.item = claim.target
    WHERE claim.property IN ('P495', 'P2012', 'P361', 'P2596', 'P27', 'P19', 'P1071', 'P17', 'P276', 'P131')
),
possible AS (
    SELECT item, country FROM origins
    UNION
    SELECT claim.item, origins.country
    FROM wikidata.claims AS claim JOIN origins ON origins.item = claim.target
    WHERE claim.property IN ('P50', 'P86', 'P170', 'P175')
)
SELECT topic, country FROM rest
ANTI JOIN (SELECT topic, country FROM of_topic JOIN possible USING (item)) AS covered USING (topic, country)
ORDER BY country, topic
