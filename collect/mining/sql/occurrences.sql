-- occurrences: a row is a candidate in the slot of a match.
CREATE TABLE occurrences AS
SELECT ngrams.hit, ngrams.document, ngrams.pattern, ngrams.form, candidates.candidate
FROM ngrams JOIN candidates USING (key);
