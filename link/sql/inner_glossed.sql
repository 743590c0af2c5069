-- inner_names: add what stands before a text in brackets at the end of a mention (`marked`), which explains it: "sushi (Japanese dish)".
-- A text that says "band" or "music" alone says which kind of item it is.
INSERT INTO inner_names
SELECT
    marked.spelling, spelling.language, marked.key, '', marked.after,
    CASE
        WHEN regexp_full_match(marked.after, $groups_before) OR regexp_full_match(marked.after, $groups_after) THEN ['groups']
        WHEN regexp_full_match(marked.after, $genres_before) OR regexp_full_match(marked.after, $genres_after) THEN ['genres']
        ELSE ['things', 'wear', 'works']
    END
FROM marked JOIN spellings AS spelling USING (spelling)
WHERE marked.key <> '';
