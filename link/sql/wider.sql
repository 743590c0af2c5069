-- What leads from an item to its country, for origins.sql.

-- cuisines: a row is a cuisine (Q1778821), or a national one (Q1968435), whose class a small snapshot may not have.
CREATE OR REPLACE TABLE cuisines AS
SELECT DISTINCT claim.item
FROM wikidata.claims AS claim
WHERE claim.property IN ('P31', 'P279') AND (
    claim.target IN (1778821, 1968435)
    OR claim.target IN (SELECT item FROM wikidata.claims WHERE property = 'P279' AND target = 1778821)
);

-- wider: a row is a statement of what an item lies in: country, administrative territory, origin, or a wider cuisine.
CREATE OR REPLACE VIEW wider AS
FROM wikidata.claims
WHERE property IN ('P17', 'P131', 'P495') OR (property IN ('P361', 'P279') AND target IN (FROM cuisines));

-- origin_claims: a row is a statement about an item that may say where it comes from.
CREATE OR REPLACE VIEW origin_claims AS
FROM wikidata.claims
WHERE property IN ('P495', 'P2012', 'P2596', 'P27', 'P19', 'P1071', 'P17', 'P276')
   OR (property = 'P361' AND target IN (FROM cuisines));

-- made: a row is an item and whoever made it.
CREATE OR REPLACE VIEW made AS
SELECT item, property, target AS maker FROM wikidata.claims WHERE property IN ('P50', 'P86', 'P170', 'P175');
