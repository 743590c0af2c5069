-- spellings: add the names within, so that they are inflected as mentions are.
INSERT INTO spellings
SELECT ((SELECT count(*) FROM spellings) + row_number() OVER ())::UINTEGER, language, key
FROM (SELECT DISTINCT language, key FROM inner_names WHERE key <> '')
ANTI JOIN spellings USING (language, key);
