-- Other spellings and other forms of what is looked up, for the asks in `unmatched`.

-- spellings: a row is a normal form of an unmatched lookup, once however many lookups and folding rules share it.
CREATE TABLE spellings AS
SELECT (row_number() OVER ())::UINTEGER AS spelling, language, key
FROM (
    SELECT DISTINCT language, key
    FROM keys SEMI JOIN unmatched USING (lookup)
    WHERE key <> ''
);

-- forms: a row is what so many rules (`turns`) make of a spelling: another form under which it may be a name.
CREATE TABLE forms (spelling UINTEGER, turns UTINYINT, key VARCHAR);
