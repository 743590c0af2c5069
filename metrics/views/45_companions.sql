-- diversity_companions: a row is a cell whose items are known; what can be compared between cells of different size.
-- The units are responses: an item counts once in each that mentions it.
-- Coverage is Good and Turing's, as Chao and Jost 2012 have it for incidence data.
CREATE VIEW diversity_companions AS
WITH smallest AS (SELECT min(responses) AS size FROM diversity WHERE diversity IS NOT NULL),
incidence AS (
    SELECT model, language, topic, condition, country, qid, count(DISTINCT response_id) AS seen
    FROM linked_mentions
    WHERE status = 'linked'
    GROUP BY ALL
    UNION ALL
    SELECT model, language, topic, condition, country, NULL, 0 FROM cells
),
shares AS (
    SELECT
        *,
        sum(seen) OVER cell AS incidences,
        seen / nullif(sum(seen) OVER cell, 0) AS share
    FROM incidence
    WINDOW cell AS (PARTITION BY model, language, topic, condition, country)
),
sums AS (
    SELECT
        model, language, topic, condition, country,
        any_value(incidences)::BIGINT AS incidences,
        count(qid) AS hill_0,
        exp(-sum(share * ln(share)) FILTER (seen > 0)) AS hill_1,
        1 / nullif(sum(share * share), 0) AS hill_2,
        count(*) FILTER (seen = 1) AS once,
        count(*) FILTER (seen = 2) AS twice,
        list(seen) FILTER (seen > 0) AS seen
    FROM shares
    GROUP BY ALL
)
SELECT
    s.model, s.language, s.topic, s.condition, s.country,
    CASE
        WHEN incidences = 0 OR responses < 2 THEN NULL
        WHEN once = 0 THEN 1.0
        WHEN twice > 0 THEN 1 - once / incidences * ((responses - 1) * once / ((responses - 1) * once + 2 * twice))
        ELSE 1 - once / incidences * ((responses - 1) * (once - 1) / ((responses - 1) * (once - 1) + 2))
    END AS coverage,
    coalesce(list_sum(list_transform(seen, lambda k: 1 - CASE
        WHEN responses - k < size THEN 0
        ELSE exp(
            lgamma(responses - k + 1) + lgamma(responses - size + 1)
            - lgamma(responses - k - size + 1) - lgamma(responses + 1)
        )
    END)), 0) AS rarefied,
    size AS rarefied_to,
    hill_0, hill_1, hill_2, once, twice, incidences, responses
FROM sums AS s
INNER JOIN diversity AS d
    ON s.model = d.model AND s.language = d.language AND s.topic = d.topic AND s.condition = d.condition
    AND s.country IS NOT DISTINCT FROM d.country
CROSS JOIN smallest
WHERE d.diversity IS NOT NULL;
