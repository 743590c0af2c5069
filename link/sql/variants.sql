-- Other spellings and other forms of what is looked up, for the asks in `unmatched`.

-- forms: a row is a form under which an unmatched lookup may be a name: as it is (`turns` 0), or turned by so many rules.
CREATE TABLE forms (lookup UINTEGER, language VARCHAR, fold VARCHAR, turns UTINYINT, key VARCHAR);
INSERT INTO forms
SELECT DISTINCT keys.lookup, unmatched.language, keys.fold, 0, keys.key
FROM keys JOIN unmatched USING (lookup)
WHERE keys.key <> '';

-- turning: a row is a form of one language that rules may still turn; `letters` is how many its mention has.
CREATE TABLE turning (lookup UINTEGER, fold VARCHAR, turns UTINYINT, key VARCHAR, letters INTEGER);
