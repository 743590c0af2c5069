-- classes and metaclasses at distance 0: the roots and the types.
INSERT INTO classes
SELECT scope, item, 0 AS distance, [item] AS path
FROM roots ANTI JOIN stops USING (scope, item);

INSERT INTO metaclasses
SELECT scope, item, 0 AS distance, [item] AS path
FROM types ANTI JOIN stops USING (scope, item);

-- stopped: a row is a class directly below a stop; as an instance of a type it is no root.
CREATE OR REPLACE TABLE stopped AS
SELECT DISTINCT stops.scope, claim.item
FROM stops JOIN wikidata.claims AS claim ON claim.target = stops.item AND claim.property = 'P279';
