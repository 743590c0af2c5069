-- Regions of countries: M49, or a user's own. Empty where `known_countries` is, as the views of origins are.

-- region_flows: a row is what a model answers in a language, under a condition, when asked about countries of a region
-- (`region`): the share from another or the same region (`origin_region`), or from 'several', an 'other' place or
-- 'none' (`origin_region_kind`): its mean over the cells with a linked item (`cells`: topics and countries), each with
-- the same weight.
--   region: the region of the countries that prompts name; NULL for countries without one
--   origin_region_kind: 'region', 'several', 'other' or 'none': whether the items are of one region
--   origin_region: the region that the items come from, where it is one
--   share: mean over cells of the share of linked items, each once per response, that come from there, 0 to 1
--   cells: cells with a linked item: topics, countries of the region and wordings
CREATE VIEW region_flows AS
WITH counts AS MATERIALIZED (
    SELECT cell, region_kind, region, sum(incidences)::BIGINT AS incidences FROM flow_counts GROUP BY ALL
),
shares AS MATERIALIZED (
    SELECT
        c.model, c.language, c.condition, k.region, n.region_kind, n.region AS origin_region, n.cell, n.incidences,
        n.incidences / sum(n.incidences) OVER (PARTITION BY n.cell) AS share
    FROM counts AS n
    INNER JOIN numbered_cells AS c USING (cell)
    INNER JOIN known_countries AS k USING (country)
),
asked AS (
    SELECT model, language, condition, region, count(DISTINCT cell) AS cells FROM shares GROUP BY ALL
)
SELECT
    s.model, s.language, s.condition, s.region, s.region_kind AS origin_region_kind, s.origin_region,
    sum(s.share ORDER BY s.share) / any_value(a.cells) AS share,
    any_value(a.cells) AS cells, sum(s.incidences)::BIGINT AS incidences
FROM shares AS s
INNER JOIN asked AS a
    ON s.model = a.model AND s.language = a.language AND s.condition = a.condition
    AND s.region IS NOT DISTINCT FROM a.region
GROUP BY ALL;

-- region_specificity: a row is a model in a language, under a condition, and a region that prompts name countries of:
-- which share of the linked items, each once per response, is associated with the country that is named
-- (`specificity`), comes from its region (`within`), from other regions (`between`), or from where nobody can say
-- (`open`: several regions, no country, or none at all). Means over cells, as in `region_flows`; `within`, `between`
-- and `open` add up to 1.
--   region: the region of the countries that prompts name
--   specificity: mean share of linked items, each once per response, that are associated with the country that is
--     named
--   within: mean share that comes from the region of the country that is named, that country included
--   between: mean share that comes from other regions
--   open: mean share that comes from several regions, from no country of today, or from where Wikidata does not say
--   cells: cells with a linked item: topics, countries of the region and wordings
CREATE VIEW region_specificity AS
WITH counts AS (
    SELECT
        c.model, c.language, c.condition, k.region, n.cell,
        sum(n.incidences) AS incidences, sum(n.associated) AS associated,
        coalesce(sum(n.incidences) FILTER (n.region_kind = 'region' AND n.region = k.region), 0) AS within,
        coalesce(sum(n.incidences) FILTER (n.region_kind = 'region' AND n.region <> k.region), 0) AS between_regions
    FROM flow_counts AS n
    INNER JOIN numbered_cells AS c USING (cell)
    INNER JOIN known_countries AS k USING (country)
    WHERE k.region IS NOT NULL
    GROUP BY ALL
)
SELECT
    model, language, condition, region,
    avg(associated / incidences ORDER BY associated / incidences) AS specificity,
    avg(within / incidences ORDER BY within / incidences) AS within,
    avg(between_regions / incidences ORDER BY between_regions / incidences) AS "between",
    avg(
        (incidences - within - between_regions) / incidences ORDER BY (incidences - within - between_regions) / incidences
    ) AS "open",
    count(*) AS cells, sum(incidences)::BIGINT AS incidences
FROM counts
GROUP BY ALL;

-- region_consensus: a row is a model on a topic under a condition and two regions of languages (`language_region` comes
-- first in the order of maps, and is `other_language_region` where a pair is from `within` a region): the mean
-- consensus of pairs of languages from there. A language is of the region of its first country. Pairs without a number
-- are `missing`.
--   language_region: the region of a language's first country: of the two the first in the order of maps
--   other_language_region: the region of the other language's first country
--   within: are both languages of one region?
--   consensus: mean consensus of the pairs of languages from there, 0 to 1; NULL where no pair has a number
--   pairs: pairs of languages with a number, over countries
--   missing: pairs without one
CREATE VIEW region_consensus AS
WITH homes AS MATERIALIZED (
    SELECT unnest(k.languages) AS language, k.region, o.place
    FROM known_countries AS k
    INNER JOIN (SELECT region, min(place) AS place FROM known_countries GROUP BY region) AS o USING (region)
),
pairs AS (
    SELECT
        c.model, c.topic, c.condition, c.consensus,
        CASE WHEN a.place <= b.place THEN a.region ELSE b.region END AS language_region,
        CASE WHEN a.place <= b.place THEN b.region ELSE a.region END AS other_language_region
    FROM consensus AS c
    INNER JOIN homes AS a ON c.language = a.language
    INNER JOIN homes AS b ON c.other_language = b.language
)
SELECT
    model, topic, condition, language_region, other_language_region, language_region = other_language_region AS within,
    avg(consensus ORDER BY consensus) AS consensus, count(consensus) AS pairs, count(*) - count(consensus) AS missing
FROM pairs
GROUP BY ALL;
