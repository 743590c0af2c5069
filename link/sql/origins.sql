-- Where the items of `linked` come from. `states` and `divided` (link/origins.py) say which items stand for a country;
-- `cuisines` and `wider` are those of wider.sql.

-- makers: a row is whoever made an item, and by which property.
CREATE OR REPLACE TABLE makers AS
SELECT linked.item, claim.property, claim.target AS maker
FROM linked JOIN wikidata.claims AS claim USING (item)
WHERE claim.property IN ('P50', 'P86', 'P170', 'P175');

-- statements: a row is a statement that may say where an item comes from. `about` is the item or its maker; `place` orders
-- the properties. A place of birth counts as an origin only where no citizenship is stated.
CREATE OR REPLACE TABLE statements AS
WITH said AS (
    SELECT linked.item, linked.item AS about, claim.property, claim.target, claim.ended,
        list_position(['P495', 'P2012', 'P361', 'P2596', '', '', '', 'P27', 'P19', 'P1071', 'P17', 'P276'], claim.property) AS place
    FROM linked JOIN wikidata.claims AS claim USING (item)
    WHERE claim.property IN ('P495', 'P2012', 'P2596', 'P27', 'P19', 'P1071', 'P17', 'P276')
       OR (claim.property = 'P361' AND claim.target IN (FROM cuisines))
    UNION ALL
    SELECT makers.item, maker, makers.property || '/' || claim.property, claim.target, claim.ended,
        list_position(['', '', '', '', 'P27', 'P495', 'P19'], claim.property)
    FROM makers JOIN wikidata.claims AS claim ON claim.item = makers.maker
    WHERE claim.property IN ('P27', 'P495', 'P19')
)
FROM said
WHERE property NOT LIKE '%P19' OR NOT EXISTS (
    FROM wikidata.claims AS citizenship WHERE citizenship.item = said.about AND citizenship.property = 'P27'
);

-- births: a row is a person of a work, or an item itself, and where it was born.
CREATE OR REPLACE TABLE births AS
SELECT people.item, people.about, claim.target AS place
FROM (SELECT item, item AS about FROM linked UNION SELECT item, maker FROM makers) AS people
JOIN wikidata.claims AS claim ON claim.item = people.about AND claim.property = 'P19';

-- climbed: a row is a place, a cuisine or a culture that is no country, and a country that the fewest statements lead to.
-- A state of today comes before a former one, a statement that has not ended before one that has, and of these the last.
CREATE OR REPLACE TABLE climbed AS
WITH RECURSIVE climb(place, here, steps, ended) AS (
    SELECT target, target, 0, 9999::SMALLINT FROM (SELECT target FROM statements UNION SELECT place FROM births)
    WHERE target NOT IN (SELECT item FROM states) AND target NOT IN (SELECT item FROM divided)
    UNION
    SELECT climb.place, claim.target, climb.steps + 1, least(climb.ended, coalesce(claim.ended, 9999))
    FROM climb JOIN wider AS claim ON claim.item = climb.here
    WHERE climb.steps < 8 AND climb.here NOT IN (SELECT item FROM states)
)
SELECT DISTINCT climb.place, states.country
FROM climb JOIN states ON states.item = climb.here
QUALIFY rank() OVER (PARTITION BY climb.place ORDER BY states.former, climb.ended = 9999 DESC, climb.steps, climb.ended DESC) = 1;

-- replaced: a row is a state that no table names and no statement places, and all countries that came after it (P1366).
CREATE OR REPLACE TABLE replaced AS
WITH RECURSIVE after(state, here, steps) AS (
    SELECT DISTINCT target, target, 0 FROM statements
    WHERE target NOT IN (SELECT item FROM states) AND target NOT IN (SELECT item FROM divided)
      AND target NOT IN (SELECT place FROM climbed)
    UNION
    SELECT after.state, claim.target, after.steps + 1
    FROM after JOIN wikidata.claims AS claim ON claim.item = after.here
    WHERE claim.property = 'P1366' AND after.steps < 8 AND after.here NOT IN (SELECT item FROM states)
)
SELECT after.state AS item, list(DISTINCT states.country ORDER BY states.country) AS heirs, NULL::VARCHAR AS principal
FROM after JOIN states ON states.item = after.here
GROUP BY after.state;

-- said: a row is a statement that counts, with the countries that it names by itself, or the heirs of a divided state. What
-- ended gives way to what has not, or ended later; but the citizenship of a former state ended with the state.
CREATE OR REPLACE TABLE said AS
WITH placed AS (
    SELECT
        statements.*, divided.heirs, divided.principal, coalesce(own.countries, place.countries) AS countries,
        (divided.item IS NOT NULL OR coalesce(own.former, false)) AND statements.property LIKE '%P27' AS survives
    FROM statements
    LEFT JOIN (FROM divided UNION ALL FROM replaced) AS divided ON divided.item = statements.target
    LEFT JOIN (SELECT item, list(country) AS countries, bool_or(former) AS former FROM states GROUP BY item) AS own
        ON own.item = statements.target
    LEFT JOIN (SELECT place, list(country) AS countries FROM climbed GROUP BY place) AS place
        ON place.place = statements.target
)
FROM placed
QUALIFY survives OR coalesce(ended, 9999)
    = max(coalesce(ended, 9999)) FILTER (NOT survives) OVER (PARTITION BY item, about, place);
