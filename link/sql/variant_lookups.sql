-- lookups, keys: the turned forms, so that a source can see to the items that bear these names.
CREATE OR REPLACE TABLE turned AS
SELECT (SELECT max(lookup) FROM lookups) + dense_rank() OVER (ORDER BY lookups.language, form.key) AS lookup,
    lookups.language, form.fold, form.key
FROM (SELECT DISTINCT lookup, fold, key FROM forms WHERE turns > 0) AS form JOIN lookups USING (lookup);

INSERT INTO lookups SELECT DISTINCT lookup, language, key FROM turned;
INSERT INTO keys SELECT DISTINCT lookup, fold, key FROM turned;
