-- A row is a normal form that is sought in a scope, and a name there that may be alike enough. As many letters as there
-- are in one and not in the other, and as many as one is longer, must at least be put in or left out, and that is what
-- the ratio counts: $slack for each letter of both.
WITH pairs AS (
    SELECT sought.scope, sought.key, pool.key AS name, sought.letters AS sought_letters, pool.letters AS name_letters
    FROM lettered_sought AS sought
    JOIN lettered_pool AS pool ON pool.scope = sought.scope AND beginning(pool.key) = beginning(sought.key)
    UNION ALL
    SELECT sought.scope, sought.key, pool.key AS name, sought.letters AS sought_letters, pool.letters AS name_letters
    FROM lettered_sought AS sought
    JOIN lettered_pool AS pool ON pool.scope = sought.scope AND ending(pool.key) = ending(sought.key)
)
SELECT DISTINCT scope, key, name
FROM pairs
WHERE greatest(bit_count(xor(sought_letters, name_letters)), abs(length(key) - length(name))) <= $slack * (length(key) + length(name))
