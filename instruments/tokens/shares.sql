-- The first table of `polyculture tokens`: a row is a language's share in a model's vocabulary, by one reading.
SELECT model, language, reading, tokens, own, share, partial AS "parts of letters"
FROM vocabulary_shares
WHERE list_contains($models, model) AND list_contains($languages, language) AND characters = $characters
ORDER BY list_position($models, model), list_position($languages, language), reading
