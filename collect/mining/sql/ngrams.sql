-- ngrams: a row is an n-gram in the slot of a match.
CREATE VIEW ngrams AS
SELECT rowid AS hit, document, pattern, unnest(keys) AS key, unnest(forms) AS form FROM hits;

-- counted: a row is an n-gram with its numbers of matches and of different documents.
CREATE TABLE counted AS
SELECT key, sum(places)::UBIGINT AS count, count(*)::UBIGINT AS documents
FROM (SELECT key, document, count(*) AS places FROM ngrams GROUP BY key, document)
GROUP BY key;
