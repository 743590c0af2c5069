-- A row is how many answers of two sides to the same questions, with the options in the same order, are read alike. $one
-- and $other name the sides; what did not come (reader '-') is of every reader of its side.
SELECT
    one.kind, wording, undirected, one.role AS role_one, other.role AS role_other, one."right" AS right_one,
    other."right" AS right_other, one.outcome AS outcome_one, other.outcome AS outcome_other, one.place AS place_one,
    other.place AS place_other, count(*)::DOUBLE AS n,
    coalesce(sum(one.matched ORDER BY one.matched), 0)::DOUBLE AS matched_one,
    coalesce(sum(other.matched ORDER BY other.matched), 0)::DOUBLE AS matched_other
FROM question_sides AS one
INNER JOIN question_sides AS other USING (dataset, language, item, wording, shown, undirected)
WHERE dataset = $dataset AND language = $language
    AND one.condition = $one.condition AND other.condition = $other.condition
    AND one.model = $one.model AND one.method = $one.method AND one.reader IN ($one.reader, '-')
    AND other.model = $other.model AND other.method = $other.method AND other.reader IN ($other.reader, '-')
GROUP BY ALL
ORDER BY ALL
