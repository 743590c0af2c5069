-- Where what is named comes from, over all countries of the world. These views are empty where links were made when
-- only the countries of the study were known (`known_countries` has no row): numbers of both sorts are never mixed.

-- item_origins: a row is a linked item and where it comes from: from one 'country' (`origin`), from 'several', from a
-- 'former state' on the land of several of today's countries (`candidates`), from an 'other' place that Wikidata names
-- and that is no country, or from 'none'.
--   origin_kind: where the item comes from: one 'country', 'several', a 'former state' of several, an 'other' place,
--     or 'none' that Wikidata names
--   origin: the country, ISO 3166, where it is one
--   countries: all countries that the item is associated with
--   candidates: the countries on whose land a former state lay that the item comes from
CREATE VIEW item_origins AS
WITH said AS (
    SELECT
        qid,
        coalesce(list(DISTINCT country ORDER BY country) FILTER (country IS NOT NULL), []) AS countries,
        list_sort(list_distinct(coalesce(flatten(list(successors) FILTER (successors IS NOT NULL)), []))) AS successors,
        -- A citizen of the Soviet Union and of the United States is not of the United States alone.
        coalesce(bool_or(NOT list_has_any(successors, own)) FILTER (successors IS NOT NULL), false) AS elsewhere
    FROM entity_countries
    LEFT JOIN (SELECT qid, list(country) AS own FROM entity_countries WHERE country IS NOT NULL GROUP BY qid) USING (qid)
    GROUP BY qid
)
SELECT
    e.qid,
    CASE
        WHEN s.qid IS NULL THEN 'none'
        WHEN len(s.countries) = 1 AND NOT s.elsewhere THEN 'country'
        WHEN len(s.countries) > 0 THEN 'several'
        WHEN len(s.successors) > 0 THEN 'former state'
        ELSE 'other'
    END AS origin_kind,
    CASE WHEN len(s.countries) = 1 AND NOT s.elsewhere THEN s.countries[1] END AS origin,
    coalesce(s.countries, []) AS countries,
    coalesce(s.successors, []) AS candidates
FROM (SELECT qid FROM links WHERE qid IS NOT NULL UNION SELECT qid FROM entities) AS e
LEFT JOIN said AS s USING (qid)
WHERE EXISTS (FROM known_countries);

-- flows: a row is a cell and where items of it come from: "asked about `country`, answered from `origin`". `share` is
-- of all linked items of the cell, each counted once per response that mentions it; the shares of a cell add up to 1.
-- `country` is NULL for neutral prompts.
--   country: the country that the prompt names, X of "asked about X"; NULL: a neutral prompt
--   origin_kind: 'country', 'several', 'former state', 'other' or 'none' (see item_origins)
--   origin: the country that the items come from, Y of "answered from Y"; NULL where it is not one
--   share: share of the cell's linked items, each once per response, that come from there, 0 to 1
CREATE VIEW flows AS
WITH counts AS (
    SELECT i.cell, o.origin_kind, o.origin, sum(i.seen)::BIGINT AS incidences
    FROM cell_incidence AS i
    INNER JOIN item_origins AS o USING (qid)
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording, n.origin_kind, n.origin,
    n.incidences / sum(n.incidences) OVER (PARTITION BY cell) AS share, n.incidences
FROM counts AS n
INNER JOIN numbered_cells AS c USING (cell);

-- model_flows: a row is what a model answers in a language, under a condition, when asked about a country: the share
-- from an origin, its mean over the topics and wordings with a linked item (`cells`), each with the same weight.
--   country: the country that the prompt names, X of "asked about X"; NULL: neutral prompts
--   origin_kind: 'country', 'several', 'former state', 'other' or 'none' (see item_origins)
--   origin: the country that the items come from, Y of "answered from Y"; NULL where it is not one
--   share: mean over topics and wordings of the share in `flows`, 0 to 1; the shares of a country that was asked
--     about add up to 1
--   cells: topics, each in its wordings, with a linked item
CREATE VIEW model_flows AS
WITH shares AS MATERIALIZED (SELECT * FROM flows),
asked AS (
    SELECT model, language, condition, country, count(DISTINCT (topic, wording)) AS cells FROM shares GROUP BY ALL
)
SELECT
    s.model, s.language, s.condition, s.country, s.origin_kind, s.origin,
    sum(s.share ORDER BY s.share) / any_value(a.cells) AS share,
    any_value(a.cells) AS cells, sum(s.incidences)::BIGINT AS incidences
FROM shares AS s
INNER JOIN asked AS a
    ON s.model = a.model AND s.language = a.language AND s.condition = a.condition
    AND s.country IS NOT DISTINCT FROM a.country
GROUP BY ALL;
