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
