-- near: a row is a name that is like $needle but for some typos, of those that were mentioned or linked; the likest first.
WITH names AS (
    SELECT DISTINCT surface AS name FROM links WHERE abs(length(surface) - length($needle)) <= 3
    UNION
    SELECT label FROM entities WHERE abs(length(label) - length($needle)) <= 3
),
likened AS (
    SELECT name, damerau_levenshtein(lower(name), lower($needle)) AS typos FROM names WHERE name IS NOT NULL
)
SELECT any_value(name ORDER BY name) AS name, min(typos) AS typos
FROM likened
WHERE typos <= greatest(1, (length($needle) + 1) // 3)
GROUP BY lower(name)
ORDER BY typos, name
LIMIT 6;
