-- incidence_counts: a row is a cell and a number of responses, `seen`, with how many `items` are mentioned by exactly so
-- many responses of the cell.
CREATE VIEW incidence_counts AS
SELECT cell, seen, count(*) AS items
FROM cell_incidence
WHERE seen > 0
GROUP BY ALL;

-- expected_in: the share of random draws of `size` out of `responses` responses in which something turns up that `seen`
-- of them mention (hypergeometric).
CREATE MACRO expected_in(size, responses, seen) AS 1 - CASE
    WHEN responses - seen < size THEN 0
    ELSE exp(
        lgamma(responses - seen + 1) + lgamma(responses - size + 1)
        - lgamma(responses - seen - size + 1) - lgamma(responses + 1)
    )
END;

-- saturation_sizes: the numbers of responses at which a cell of `responses` responses has a point of its curve: 1, 2, 5,
-- 10, 20, 50, ... and its own.
CREATE MACRO saturation_sizes(responses) AS list_append(
    list_filter(
        list_transform(generate_series(0, 17), lambda k: ([1, 2, 5])[k % 3 + 1] * (10 ** (k // 3))::BIGINT),
        lambda size: size < responses
    ),
    responses
);

-- diversity_companions: a row is a cell whose items are known; what can be compared between cells of different size.
-- The units are responses: an item counts once in each that mentions it.
-- Coverage is Good and Turing's, as Chao and Jost 2012 have it for incidence data.
CREATE VIEW diversity_companions AS
WITH known AS (
    SELECT c.cell, d.*, min(d.responses) OVER () AS size
    FROM diversity AS d
    INNER JOIN numbered_cells AS c
        ON d.model = c.model AND d.language = c.language AND d.topic = c.topic AND d.condition = c.condition
        AND d.country IS NOT DISTINCT FROM c.country
    WHERE d.diversity IS NOT NULL
),
sums AS (
    SELECT
        k.cell,
        coalesce(sum(items), 0)::BIGINT AS hill_0,
        coalesce(sum(seen * items), 0)::BIGINT AS incidences,
        sum(seen * ln(seen) * items) AS logarithms,
        sum(seen * seen * items)::DOUBLE AS squares,
        coalesce(sum(items) FILTER (seen = 1), 0)::BIGINT AS once,
        coalesce(sum(items) FILTER (seen = 2), 0)::BIGINT AS twice,
        coalesce(sum(items * expected_in(size, responses, seen)), 0) AS rarefied
    FROM known AS k
    LEFT JOIN incidence_counts AS i USING (cell)
    GROUP BY ALL
)
SELECT
    k.model, k.language, k.topic, k.condition, k.country,
    CASE
        WHEN incidences = 0 OR responses < 2 THEN NULL
        WHEN once = 0 THEN 1.0
        WHEN twice > 0 THEN 1 - once / incidences * ((responses - 1) * once / ((responses - 1) * once + 2 * twice))
        ELSE 1 - once / incidences * ((responses - 1) * (once - 1) / ((responses - 1) * (once - 1) + 2))
    END AS coverage,
    s.rarefied,
    k.size AS rarefied_to,
    s.hill_0,
    incidences * exp(-logarithms / incidences) AS hill_1,
    incidences::DOUBLE * incidences / squares AS hill_2,
    s.once, s.twice, s.incidences, k.responses
FROM sums AS s
INNER JOIN known AS k USING (cell);
