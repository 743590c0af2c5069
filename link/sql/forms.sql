-- What is looked up. `part`: 0 the surface, 1 the dictionary form, 2 the English name.

-- texts: a row is a text of a query, and the language in whose fallback chain (`chain`) it is looked up. `spelling` is a hash of
-- the two: what is equal for many queries is joined by a number. A text that ends in a parenthesis is looked up without it, too
-- (`cut`).
CREATE TABLE texts AS
WITH written AS (
    SELECT query, 0::UTINYINT AS part, language, surface AS text FROM queries
    UNION ALL
    SELECT query, 1, language, name FROM queries WHERE name IS DISTINCT FROM surface AND name IS NOT NULL AND NOT getvariable('paper')
    UNION ALL
    SELECT query, 2, 'en', english FROM queries WHERE english IS NOT NULL AND NOT getvariable('paper')
),
shortened AS (
    SELECT query, part, language, regexp_replace(text, getvariable('parenthesis'), '') AS text
    FROM written
    WHERE NOT getvariable('paper') AND (contains(text, '(') OR contains(text, '（'))
)
SELECT *, hash(language, text) AS spelling
FROM (
    SELECT *, false AS cut FROM written
    UNION ALL
    SELECT shortened.*, true FROM shortened ANTI JOIN written USING (query, part, text) WHERE text <> ''
);
