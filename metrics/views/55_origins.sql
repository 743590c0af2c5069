-- Where what is named comes from, over all countries of the world. These views are empty where links were made when
-- only the countries of the study were known (`known_countries` has no row): numbers of both sorts are never mixed.

-- item_origins: a row is a linked item and where it comes from: from one 'country' (`origin`), from 'several', from a
-- 'former state' on the land of several of today's countries (`candidates`), from an 'other' place that Wikidata names
-- and that is no country, or from 'none'. Its `region` is that of all its countries, or else of all the former state's,
-- where it is one: `region_kind` is 'region', 'several', 'other' or 'none'.
--   origin_kind: where the item comes from: one 'country', 'several', a 'former state' of several, an 'other' place,
--     or 'none' that Wikidata names
--   origin: the country, ISO 3166, where it is one
--   countries: all countries that the item is associated with
--   candidates: the countries on whose land a former state lay that the item comes from
--   region_kind: 'region' where all its countries (or else its candidates) are of one; 'several', 'other' or 'none'
--   region: the region, where it is one: a code of the catalogue
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
),
placed AS (
    SELECT s.qid, list(DISTINCT k.region ORDER BY k.region NULLS FIRST) AS regions, bool_or(k.region IS NULL) AS without
    FROM (
        SELECT qid, unnest(CASE WHEN len(countries) > 0 THEN countries ELSE successors END) AS country
        FROM said
    ) AS s
    LEFT JOIN known_countries AS k USING (country)
    GROUP BY s.qid
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
    coalesce(s.successors, []) AS candidates,
    CASE
        WHEN s.qid IS NULL THEN 'none'
        WHEN p.qid IS NULL THEN 'other'
        WHEN len(p.regions) = 1 AND NOT p.without THEN 'region'
        WHEN p.without AND len(p.regions) = 1 THEN 'other'
        ELSE 'several'
    END AS region_kind,
    CASE WHEN len(p.regions) = 1 THEN p.regions[1] END AS region
FROM (SELECT qid FROM links WHERE qid IS NOT NULL UNION SELECT qid FROM entities) AS e
LEFT JOIN said AS s USING (qid)
LEFT JOIN placed AS p USING (qid)
WHERE EXISTS (FROM known_countries);

-- flow_counts: a row is a cell and where items of it come from: how often linked items from there are named, each
-- counted once per response (`incidences`), and those of them that are associated with the country that the prompt
-- names.
--   origin_kind: where the items come from: 'country', 'several', 'former state', 'other' or 'none' (see
--     item_origins)
--   origin: the country that they come from, ISO 3166, where it is one
--   region_kind: whether the items are of one region: 'region', 'several', 'other' or 'none'
--   region: the region that they come from, where it is one
--   associated: those of the incidences whose item is associated with the country that the prompt names
CREATE VIEW flow_counts AS
SELECT
    i.cell, o.origin_kind, o.origin, o.region_kind, o.region,
    sum(i.seen)::BIGINT AS incidences,
    coalesce(sum(i.seen) FILTER (list_contains(o.countries, c.country)), 0)::BIGINT AS associated
FROM cell_incidence AS i
INNER JOIN numbered_cells AS c USING (cell)
INNER JOIN item_origins AS o USING (qid)
WHERE i.seen > 0
GROUP BY ALL;

-- flows: a row is a cell and where items of it come from: "asked about `country`, answered from `origin`". `share` is
-- of all linked items of the cell, each counted once per response that mentions it; the shares of a cell add up to 1.
-- `country` is NULL for neutral prompts.
--   country: the country that the prompt names, X of "asked about X"; NULL: a neutral prompt
--   origin_kind: 'country', 'several', 'former state', 'other' or 'none' (see item_origins)
--   origin: the country that the items come from, Y of "answered from Y"; NULL where it is not one
--   share: share of the cell's linked items, each once per response, that come from there, 0 to 1
--   associated: those of the incidences whose item is associated with the country that the prompt names
CREATE VIEW flows AS
WITH counts AS (
    SELECT cell, origin_kind, origin, sum(incidences)::BIGINT AS incidences, sum(associated)::BIGINT AS associated
    FROM flow_counts
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording, n.origin_kind, n.origin,
    n.incidences / sum(n.incidences) OVER (PARTITION BY cell) AS share,
    n.incidences, n.associated
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

-- former_specificity: a row is a cell that names a country: its specificity, which leaves out what comes from a former
-- state on the land of several countries, and the same with all of these items where the country is one of them. The
-- truth lies between. NULL when there is no linked item, and for `uncovered_countries`.
--   specificity_with_former: the same with items of former states that the country is one of the heirs of: the most
--     that it could be
--   of_former_states: incidences of items of a former state on the country's land and others', not associated with
--     the country
CREATE VIEW former_specificity AS
WITH sums AS (
    SELECT
        i.cell, sum(i.seen)::BIGINT AS incidences,
        coalesce(sum(i.seen) FILTER (list_contains(o.countries, c.country)), 0)::BIGINT AS associated,
        coalesce(sum(i.seen) FILTER (
            NOT list_contains(o.countries, c.country) AND list_contains(o.candidates, c.country)
        ), 0)::BIGINT AS of_former_states
    FROM cell_incidence AS i
    INNER JOIN numbered_cells AS c USING (cell)
    INNER JOIN item_origins AS o USING (qid)
    WHERE i.seen > 0
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    CASE WHEN u.topic IS NULL THEN s.associated / s.incidences END AS specificity,
    CASE WHEN u.topic IS NULL THEN (s.associated + s.of_former_states) / s.incidences END AS specificity_with_former,
    coalesce(s.incidences, 0) AS incidences, coalesce(s.associated, 0) AS associated,
    coalesce(s.of_former_states, 0) AS of_former_states
FROM numbered_cells AS c
LEFT JOIN sums AS s USING (cell)
LEFT JOIN uncovered_countries AS u ON c.topic = u.topic AND c.country = u.country
WHERE c.country IS NOT NULL AND EXISTS (FROM known_countries);
