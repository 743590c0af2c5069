-- inflections: add the forms in `written`: mentions without what an apostrophe sets apart.
INSERT INTO inflections
SELECT DISTINCT spelling, 1, key, length(replace(key, ' ', '')), 0, false FROM written WHERE key <> ''
