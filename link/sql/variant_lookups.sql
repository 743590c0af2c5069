-- lookups, keys: the turned forms, so that a source can see to the items that bear these names.
CREATE OR REPLACE TABLE turned AS
SELECT (SELECT max(lookup) FROM lookups) + dense_rank() OVER (ORDER BY language, key) AS lookup, language, fold, key
FROM (
    SELECT DISTINCT spelling.language, keys.fold, forms.key
    FROM forms
    JOIN spellings AS spelling USING (spelling)
    JOIN keys ON keys.key = spelling.key
    JOIN lookups AS lookup ON lookup.lookup = keys.lookup AND lookup.language = spelling.language
);

INSERT INTO lookups SELECT DISTINCT lookup, language, key FROM turned;
INSERT INTO keys SELECT DISTINCT lookup, fold, key FROM turned;
