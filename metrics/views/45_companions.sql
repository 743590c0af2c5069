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
CREATE VIEW diversity_companions AS
SELECT
    model, language, topic, condition, country, wording,
    max(estimate) FILTER (metric = 'coverage') AS coverage, max(estimate) FILTER (metric = 'rarefied') AS rarefied,
    (SELECT min(responses) FROM cell_sizes WHERE known) AS rarefied_to,
    max(estimate) FILTER (metric = 'hill_1') AS hill_1, max(estimate) FILTER (metric = 'hill_2') AS hill_2,
    incidences, responses
FROM cell_numbers
WHERE metric IN ('coverage', 'rarefied', 'hill_1', 'hill_2')
GROUP BY ALL
HAVING rarefied IS NOT NULL;
