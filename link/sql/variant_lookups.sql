-- lookups, keys: the turned forms, so that a source can see to the items that bear these names.
CREATE OR REPLACE TABLE turned AS
SELECT (SELECT max(lookup) FROM lookups) + dense_rank() OVER (ORDER BY language, key) AS lookup, language, fold, key
FROM (SELECT DISTINCT language, fold, key FROM forms WHERE turns > 0);

INSERT INTO lookups SELECT DISTINCT lookup, language, key FROM turned;
INSERT INTO keys SELECT DISTINCT lookup, fold, key FROM turned;
