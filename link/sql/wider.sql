-- What leads from a place, a cuisine or a culture to its country: for origins.sql and uncovered.sql, which have to agree.

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
