-- A row is a normal form that is sought in a scope, and a name there that may be alike enough. As many letters as there
-- are in one and not in the other, and as many as one is longer, must at least be put in or left out, and that is what
-- the ratio counts: $slack for each letter of both. Lengths are compared first: to count letters takes longer.
WITH pairs AS (
    SELECT scope, sought.key, pool.key AS name, sought.length + pool.length AS length,
        abs(sought.length - pool.length) AS longer, bit_count(xor(sought.letters, pool.letters)) AS other
    FROM lettered_sought AS sought JOIN lettered_pool AS pool USING (scope, beginning)
    UNION ALL
    SELECT scope, sought.key, pool.key AS name, sought.length + pool.length AS length,
        abs(sought.length - pool.length) AS longer, bit_count(xor(sought.letters, pool.letters)) AS other
    FROM lettered_sought AS sought JOIN lettered_pool AS pool USING (scope, ending)
)
SELECT DISTINCT scope, key, name
FROM pairs
WHERE CASE WHEN longer <= $slack * length THEN other <= $slack * length ELSE false END
