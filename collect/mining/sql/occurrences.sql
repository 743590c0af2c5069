-- occurrences: a row is a candidate in the slot of a match.
CREATE TABLE occurrences AS
SELECT ngrams.hit, ngrams.document, ngrams.pattern, ngrams.form, candidates.candidate, candidates.size
FROM ngrams JOIN candidates USING (key);

-- chosen: a row is a candidate that completes its pattern; `completions` counts its matches without a longer one.
CREATE TABLE chosen (candidate UINTEGER, size BIGINT, completions UBIGINT);

-- taken: a row is a match with the candidate that completes it.
CREATE TABLE taken (hit BIGINT, candidate UINTEGER);
