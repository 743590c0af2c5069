-- A row is a language's share of a model's vocabulary (Camellia), keyed as the cells of `published`.
SELECT
    model, 'tokens' AS measure, 'share' AS metric, '-' AS dataset, language, '-' AS culture,
    '-' AS topic, characters AS condition, MAP {'reading': reading} AS facets,
    share AS estimate, 'all tokens are counted' AS no_interval, tokens AS n, 'token' AS unit,
    '' AS lacking
FROM vocabulary_shares
WHERE share IS NOT NULL AND NOT starts_with(model, 'mock:') -- which has no vocabulary of its own, but bytes
