-- rewritten_names: add the names as $pattern and $other rewrite them; those in $language, or all ('').
INSERT INTO rewritten_names
SELECT item, language, name, kind, other
FROM (
    SELECT *, regexp_replace(normalised, $pattern, $other, 'g') AS other
    FROM named
    WHERE $language IN ('', language) AND regexp_matches(normalised, $pattern)
)
WHERE other <> normalised
