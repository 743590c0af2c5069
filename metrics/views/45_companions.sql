-- incidence_counts: a row is a cell and a number of responses, `seen`, with how many `items` are mentioned by exactly so
-- many responses of the cell.
--   seen: a number of responses
--   items: linked items that exactly so many responses mention
CREATE VIEW incidence_counts AS
SELECT cell, seen, count(*) AS items
FROM cell_incidence
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

-- uncovered_in: of the `seen` mentions of an item, as many as `size` out of the other responses leave uncovered.
CREATE MACRO uncovered_in(size, responses, seen) AS seen * (1 - expected_in(size, responses - 1, seen - 1));

-- diversity_companions: a row is a cell whose items are known: what its diversity says beside the number of responses. Hill
-- numbers are those of the sample and grow with its size, the less the higher their order (that of order 0 is diversity);
-- `rarefied` can be compared between cells of different size. The units are responses: an item counts once in each that
-- mentions it. Coverage is Good and Turing's, as Chao and Jost 2012 have it for incidence data.
--   coverage: Good and Turing's: share of all mentions that the model would make that fall on items seen here, 0 to 1
--   rarefied: expected distinct items in `rarefied_to` responses
--   rarefied_to: the smallest number of responses that any cell has
--   hill_1: Hill number of order 1: items that are frequent (exponential of Shannon's entropy); of the sample, so it
--     grows with the responses
--   hill_2: Hill number of order 2: items that are very frequent (inverse of Simpson's concentration); of the sample
CREATE VIEW diversity_companions AS
WITH known AS (
    SELECT *, min(responses) OVER () AS size
    FROM cell_diversity
    WHERE diversity IS NOT NULL
),
sums AS (
    SELECT
        k.cell, sum(seen * ln(seen) * items ORDER BY seen) AS logarithms, sum(seen * seen * items)::DOUBLE AS squares,
        coalesce(sum(items) FILTER (seen = 1), 0)::BIGINT AS once,
        coalesce(sum(items) FILTER (seen = 2), 0)::BIGINT AS twice,
        coalesce(sum(items * expected_in(size, responses, seen) ORDER BY seen), 0) AS rarefied
    FROM known AS k
    LEFT JOIN incidence_counts AS i USING (cell)
    GROUP BY k.cell
)
SELECT
    k.model, k.language, k.topic, k.condition, k.country, k.wording,
    CASE
        WHEN k.incidences = 0 OR k.responses = 1 THEN NULL
        WHEN s.once = 0 THEN 1
        -- What is left of the uncovered share with each response more.
        WHEN s.twice > 0 THEN
            1 - s.once / k.incidences * ((k.responses - 1) * s.once / ((k.responses - 1) * s.once + 2 * s.twice))
        ELSE 1 - s.once / k.incidences * ((k.responses - 1) * (s.once - 1) / ((k.responses - 1) * (s.once - 1) + 2))
    END AS coverage,
    s.rarefied, k.size AS rarefied_to,
    k.incidences * exp(-s.logarithms / k.incidences) AS hill_1,
    k.incidences::DOUBLE * k.incidences / s.squares AS hill_2,
    k.incidences, k.responses
FROM known AS k
INNER JOIN sums AS s USING (cell);
