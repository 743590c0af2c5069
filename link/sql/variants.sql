-- Other spellings and other forms of what is looked up, for the asks in `unmatched`.

-- forms: a row is a form under which an unmatched lookup may be a name: as it is (`turns` 0), or turned by so many rules.
CREATE TABLE forms (lookup UINTEGER, fold VARCHAR, turns UTINYINT, key VARCHAR);
INSERT INTO forms
SELECT DISTINCT keys.lookup, keys.fold, 0, keys.key FROM keys SEMI JOIN unmatched USING (lookup) WHERE keys.key <> '';
