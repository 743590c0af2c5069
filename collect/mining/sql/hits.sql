-- hits: a row is a match of a pattern, with the n-grams of its slot (`keys` folded, `forms` as written), shortest first.
-- Of identical documents only one is included.
CREATE TABLE hits AS
WITH found AS (FROM read_parquet($parts)),
first AS (
    SELECT document, min((file, block, line)) AS first FROM found GROUP BY document
)
SELECT found.document, found.place, found.pattern, found.context, found.keys, found.forms
FROM found JOIN first USING (document)
WHERE (found.file, found.block, found.line) = first.first;
