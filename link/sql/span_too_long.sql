-- A row is a surface of $language without any candidate that is too long for its parts to be searched.
SELECT DISTINCT unmatched.lookup
FROM unmatched
ANTI JOIN found ON found.query = unmatched.query
JOIN keys ON keys.lookup = unmatched.lookup AND keys.language = $language
WHERE NOT $spaced AND length(keys.key) > $letters
ORDER BY ALL
