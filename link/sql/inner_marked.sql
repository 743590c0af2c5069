-- inner_names: add what stands between title marks (`marked`). What comes before may be anything, mostly the creator; after it
-- only $after.
INSERT INTO inner_names
SELECT marked.spelling, spelling.language, marked.key, marked.before, marked.after, ['works']
FROM marked JOIN spellings AS spelling USING (spelling)
WHERE marked.key <> '' AND marked.before || marked.after <> '' AND (marked.after = '' OR regexp_full_match(marked.after, $after));
