-- topic_names: add the names as $pattern and $other rewrite them, which counts as one rule; those in $language, or all ('').
INSERT INTO topic_names
SELECT item, language, name, kind, 1, other, loose(other)
FROM (
    SELECT *, regexp_replace(normalised, $pattern, $other, 'g') AS other FROM topic_names
    WHERE $language IN ('', language) AND rule_count = 0 AND regexp_matches(normalised, $pattern)
)
WHERE other <> normalised
