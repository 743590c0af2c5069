-- candidates: the n-grams that are frequent enough. `size` is in words, or in characters where words have no spaces.
CREATE TABLE candidates AS
SELECT
    row_number() OVER (ORDER BY key)::UINTEGER AS candidate,
    key, count, documents,
    CASE WHEN $by_characters THEN length(replace(key, ' ', ''))
         ELSE length(key) - length(replace(key, ' ', '')) + 1 END AS size
FROM counted
WHERE count >= $min_count AND documents >= $min_documents;
