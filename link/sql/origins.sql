-- Where the items of `linked` come from. `states` (link/origins.py) says which items stand for a country;
-- the views are those of wider.sql.

-- statements: a row is a statement that may say where an item comes from. `about` is the item or its maker; `place` orders
-- the properties. A place of birth counts as an origin only where no citizenship is stated.
CREATE OR REPLACE TABLE statements AS
WITH said AS (
    SELECT linked.item, linked.item AS about, claim.property, claim.target, claim.ended,
        list_position(['P495', 'P2012', 'P361', 'P2596', '', '', '', 'P27', 'P19', 'P1071', 'P17', 'P276'], claim.property) AS place
    FROM linked JOIN origin_claims AS claim USING (item)
    UNION ALL
    SELECT made.item, made.maker, made.property || '/' || claim.property, claim.target, claim.ended,
        list_position(['', '', '', '', 'P27', 'P495', 'P19'], claim.property)
    FROM linked JOIN made USING (item) JOIN wikidata.claims AS claim ON claim.item = made.maker
    WHERE claim.property IN ('P27', 'P495', 'P19')
)
FROM said
WHERE property NOT LIKE '%P19' OR NOT EXISTS (
    FROM wikidata.claims AS citizenship WHERE citizenship.item = said.about AND citizenship.property = 'P27'
);

-- births: a row is a person of a work, or an item itself, and where it was born.
CREATE OR REPLACE TABLE births AS
SELECT people.item, people.about, claim.target AS place
FROM (SELECT item, item AS about FROM linked UNION SELECT item, maker FROM linked JOIN made USING (item)) AS people
JOIN wikidata.claims AS claim ON claim.item = people.about AND claim.property = 'P19';

-- climb: a row is a place, cuisine or culture, and what it lies in, itself included, up to a state.
CREATE OR REPLACE TABLE climb AS
WITH RECURSIVE climb(place, here, steps, ended) AS (
    SELECT target, target, 0, 9999::SMALLINT FROM (SELECT target FROM statements UNION SELECT place FROM births)
    UNION
    SELECT climb.place, claim.target, climb.steps + 1, least(climb.ended, coalesce(claim.ended, 9999))
    FROM climb JOIN wider AS claim ON claim.item = climb.here
    WHERE climb.steps < 8 AND climb.here NOT IN (SELECT item FROM states)
)
FROM climb;

-- climbed: a row is a place with the state that the fewest statements lead to. A state of today comes before a former one,
-- this before a divided one, a statement that has not ended before one that has, and of these the last. Of several divided
-- states none says which heir is meant. A region of several states is of each (Kashmir), unless another statement says of which.
CREATE OR REPLACE TABLE climbed AS
SELECT
    place, bool_or(former) AS former,
    CASE WHEN bool_or(heirs IS NOT NULL) OR count(DISTINCT item) > 1
        THEN list_sort(list_distinct(flatten(list(coalesce(heirs, countries))))) END AS heirs,
    CASE WHEN count(DISTINCT item) FILTER (heirs IS NOT NULL) < 2
        THEN list_sort(list_distinct(flatten(list(countries) FILTER (countries IS NOT NULL)))) END AS countries
FROM (
    SELECT climb.place, states.*
    FROM climb JOIN states ON states.item = climb.here
    QUALIFY rank() OVER (
        PARTITION BY climb.place
        ORDER BY states.heirs IS NOT NULL, states.former, climb.ended = 9999 DESC, climb.steps, climb.ended DESC
    ) = 1
)
GROUP BY place;

-- replaced: a row is a place that leads to no state of a table, and all countries that came after what it lies in (P1366).
CREATE OR REPLACE TABLE replaced AS
WITH RECURSIVE after(place, here, steps) AS (
    SELECT DISTINCT place, here, 0 FROM climb WHERE place NOT IN (SELECT place FROM climbed)
    UNION
    SELECT after.place, claim.target, after.steps + 1
    FROM after JOIN wikidata.claims AS claim ON claim.item = after.here
    WHERE claim.property = 'P1366' AND after.steps < 8 AND after.here NOT IN (SELECT item FROM states)
)
SELECT place, true AS former, list_sort(list_distinct(flatten(list(coalesce(heirs, countries))))) AS heirs, NULL::VARCHAR[] AS countries
FROM after JOIN states ON states.item = after.here
GROUP BY place;

-- said: a row is a statement with the countries that it names by itself, and the heirs of a divided state. One that ended does
-- not count beside one that has not, or ended later; but the citizenship of a former state ended with the state. What leads to
-- no state of a table is taken for a former one, too: a state of today would have been found.
CREATE OR REPLACE TABLE said AS
SELECT
    statements.*, found.countries, found.heirs,
    coalesce(found.former, true) AND statements.property LIKE '%P27' AS survives,
    survives OR coalesce(ended, 9999)
        = max(coalesce(ended, 9999)) FILTER (NOT survives) OVER (PARTITION BY item, about, statements.place) AS counts
FROM statements
LEFT JOIN (FROM climbed UNION ALL BY NAME FROM replaced) AS found ON found.place = statements.target;
