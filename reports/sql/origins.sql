-- Asked about a country, answered from another
-- origins: a row is where a model's answers come from when prompts name a country: from the country `origin`, or, as
-- `origin_kind` says, from several, from a former state, from another place or from none. `estimate` is the share of
-- linked items, each once per response that mentions it, the mean over languages, topics and wordings. Prompts are
-- the explicit ones; where there are none, those that name a person; never those that are written for a friend from
-- the country, who need not be whom the text is about. Countries stand in the order of their regions.
--   region: the region of the country that prompts name
--   origin_region: the region of `origin`
--   origin_place: the place of `origin` in the order of the catalogue
-- printed: model, country, origin_kind, origin, estimate, incidences
WITH shares AS MATERIALIZED (
    SELECT *
    FROM flows
    WHERE country IS NOT NULL
        AND condition <> 'audience'
        AND (condition = 'explicit') = EXISTS (SELECT 1 FROM cells WHERE condition = 'explicit')
),
asked AS (
    SELECT model, country, count(DISTINCT (language, topic, condition, wording)) AS cells FROM shares GROUP BY ALL
)
SELECT
    s.model, s.country, any_value(k.region_name) AS region, s.origin_kind, s.origin,
    any_value(o.region_name) AS origin_region,
    sum(s.share ORDER BY s.share) / any_value(a.cells) AS estimate, any_value(a.cells) AS cells,
    sum(s.incidences)::BIGINT AS incidences, any_value(k.place) AS place, any_value(o.place) AS origin_place
FROM shares AS s
INNER JOIN asked AS a ON s.model = a.model AND s.country = a.country
LEFT JOIN known_countries AS k ON s.country = k.country
LEFT JOIN known_countries AS o ON s.origin = o.country
GROUP BY s.model, s.country, s.origin_kind, s.origin
ORDER BY s.model, place NULLS LAST, s.country, s.origin_kind, origin_place NULLS LAST, s.origin;
