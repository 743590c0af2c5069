-- naming: a row is a model in a language, asked about no country or about `country`, and where what it names comes from:
-- the share of linked items, each once per response that mentions it, its mean over topics and wordings.
SELECT model, language, condition, country, origin_kind, origin, share, cells, incidences
FROM model_flows
WHERE condition IN ('neutral', 'explicit')
ORDER BY model, language, condition, country, origin_kind, origin;
