-- Spelling variants and inflected forms of the queries in `unmatched`.

-- spellings: a row is a distinct normal form of unmatched lookups, shared by lookups and folding rules.
CREATE TABLE spellings AS
SELECT (row_number() OVER ())::UINTEGER AS spelling, language, key
FROM (
    SELECT DISTINCT language, key
    FROM keys SEMI JOIN unmatched USING (lookup)
    WHERE key <> ''
);

-- forms: a row is an inflected form of a spelling, which may be a name; `rule_count` is the number of rules applied;
-- `turned`: persons' names have no such form.
CREATE TABLE forms (spelling UINTEGER, rule_count UTINYINT, key VARCHAR, turned BOOLEAN);
