-- Tokens of a model's vocabulary in a language's letters
-- vocabularies: a row is a language's share in a model's vocabulary, by one reading of what its letters are.
-- printed: model, language, characters, reading, tokens, own, share, partial
SELECT model, language, characters, reading, tokens, own, share, partial
FROM vocabulary_shares
ORDER BY model, language, characters, reading
