-- A row is the share of a language in a model's vocabulary, by one reading of what its letters are: of all that were counted.
SELECT model, language, characters, reading, share
FROM vocabulary_shares
WHERE share IS NOT NULL
ORDER BY characters, language, reading, model
