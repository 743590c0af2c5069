-- What is named in a country's own language without and with the country's name
-- naming: a row is a model in a language, asked about no country or about `country`, and where what it names comes
-- from: the share of linked items, each once per response that mentions it, its mean over topics and wordings.
--   country: the country that prompts name, or that neutral prompts in its language are compared with
--   origin: the country, or the kind of origin, of what is named
--   estimate: share of linked items of this origin, 0 to 1, with its interval of other samples (`low`, `high`)
--   no_interval: why there is no interval
--   cells: topics that both sorts of prompts have
--   incidences: linked items, each once per response that mentions it
-- printed: model, country, language, condition, origin, estimate, incidences
SELECT model, language, condition, country, origin_kind, origin, share, cells, incidences
FROM model_flows
WHERE condition IN ('neutral', 'explicit')
ORDER BY model, language, condition, country, origin_kind, origin;
