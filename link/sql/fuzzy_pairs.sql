-- A row is a normal form to compare in a scope, and a name there that may be similar enough. The letters that only one of
-- them has, and the difference of their lengths, are lower bounds of the insertions and deletions that the ratio counts; at
-- most $slack for each letter of both is allowed. Lengths are compared first, since counting letters costs more.
WITH pairs AS (
    SELECT scope, keys.key, names.key AS name, keys.length + names.length AS length,
        abs(keys.length - names.length) AS longer, bit_count(xor(keys.letters, names.letters)) AS other
    FROM lettered_keys AS keys JOIN lettered_names AS names USING (scope, beginning)
    UNION ALL
    SELECT scope, keys.key, names.key AS name, keys.length + names.length AS length,
        abs(keys.length - names.length) AS longer, bit_count(xor(keys.letters, names.letters)) AS other
    FROM lettered_keys AS keys JOIN lettered_names AS names USING (scope, ending)
)
SELECT DISTINCT scope, key, name
FROM pairs
WHERE CASE WHEN longer <= $slack * length THEN other <= $slack * length ELSE false END
