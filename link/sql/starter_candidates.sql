-- The items of a snapshot that a starter may hold, in the order in which it takes them. `topic_kinds` has the counted kinds,
-- `members` the items that reach one (see members.sql), `starter_languages` the languages whose names count,
-- `starter_rules`, one row, in how many of them an item must have a name, and how many items are taken at most.

-- belongs: a row is an item and a counted kind to which it belongs.
CREATE TABLE belongs AS
SELECT kinds.topic, kinds.kind, kinds.of_persons, kinds.of_single_things, members.item, members.path
FROM members JOIN topic_kinds AS kinds USING (scope);

-- creators: a row is an author (P50) or performer (P175) of an item of the topic.
CREATE TABLE creators AS
SELECT DISTINCT belongs.topic, claim.target AS item
FROM belongs JOIN wikidata.claims AS claim ON claim.item = belongs.item AND claim.property IN ('P50', 'P175');

-- unproven: a row is a human (Q5) in a kind of persons without any occupation (P106) and without a work in the topic: to the
-- classes alone every politician is an author.
CREATE TABLE unproven AS
SELECT belongs.topic, belongs.kind, belongs.item
FROM belongs
ANTI JOIN creators USING (topic, item)
ANTI JOIN (SELECT item FROM wikidata.claims WHERE property = 'P106') AS occupied USING (item)
WHERE belongs.of_persons AND belongs.path[-1] = 5;

-- fame: a row is an item of `belongs`: its sitelinks, in how many of the languages it has a name, and its names in them.
CREATE TABLE fame AS
SELECT
    asked.item,
    any_value(item.sitelinks) AS sitelinks,
    count(DISTINCT name.language) AS languages,
    count(name.name) AS names
FROM (SELECT DISTINCT item FROM belongs) AS asked
LEFT JOIN wikidata.items AS item USING (item)
LEFT JOIN (SELECT * FROM wikidata.names SEMI JOIN starter_languages USING (language)) AS name USING (item)
GROUP BY asked.item;

-- proven: a row is an item that may be taken, but for its languages.
CREATE TABLE proven AS SELECT DISTINCT item FROM belongs ANTI JOIN unproven USING (topic, kind, item);

-- ranked: a row is an item that may be taken. The kinds take turns, each with its most linked item first (then by
-- languages, names and number): a topic of few items is not crowded out by one of many. `place` counts from 1.
CREATE TABLE ranked AS
WITH turns AS (
    SELECT belongs.item, fame.sitelinks,
        row_number() OVER (
            PARTITION BY belongs.topic, belongs.kind
            ORDER BY fame.sitelinks DESC NULLS LAST, fame.languages DESC, fame.names DESC, belongs.item
        ) AS turn
    FROM belongs ANTI JOIN unproven USING (topic, kind, item) JOIN fame USING (item)
    WHERE fame.languages >= (SELECT languages FROM starter_rules)
)
SELECT item, row_number() OVER (ORDER BY min(turn), any_value(sitelinks) DESC NULLS LAST, item) AS place
FROM turns
GROUP BY item;

-- near: a row is an item that the limit lets in.
CREATE TABLE near AS SELECT item, place FROM ranked WHERE place <= (SELECT most FROM starter_rules);
