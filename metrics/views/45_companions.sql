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

-- covered_by, items_by: the coverage of `size` out of `responses` responses, and the distinct items in them, where
-- `counts` says how many items so many of the responses mention.
CREATE MACRO covered_by(size, responses, counts) AS
    1 - list_sum(list_transform(counts, lambda c: c.items * uncovered_in(size, responses, c.seen)))
    / list_sum(list_transform(counts, lambda c: c.items * c.seen));
CREATE MACRO items_by(size, responses, counts) AS
    list_sum(list_transform(counts, lambda c: c.items * expected_in(size, responses, c.seen)));

-- most_below: the largest number of responses, fewer than all, whose coverage is below `coverage`; found by halving.
CREATE MACRO most_below(coverage, responses, counts) AS list_reduce(
    list_prepend(0::BIGINT, list_transform(generate_series(20, 0, -1), lambda k: (2 ** k)::BIGINT)),
    lambda below, step: CASE
        WHEN below + step < responses AND covered_by(below + step, responses, counts) < coverage THEN below + step
        ELSE below
    END
);

-- diversity_companions: a row is a cell whose items are known; its diversity, and what it says beside the number of responses.
-- Hill numbers are those of the sample and grow with its size, the less the higher their order; `rarefied` and `at_coverage`
-- can be compared between cells of different size.
-- The units are responses: an item counts once in each that mentions it.
-- Coverage is Good and Turing's, as Chao and Jost 2012 have it for incidence data. What covers more than the common
-- coverage is rarefied to it (between two numbers of responses a straight line), what covers less is extrapolated, to
-- twice its responses at most.
--   coverage: Good and Turing's: share of all mentions that the model would make that fall on items seen here, 0 to 1
--   rarefied: expected distinct items in `rarefied_to` responses
--   rarefied_to: the smallest number of responses that any cell has
--   at_coverage: expected distinct items in as many responses as have the coverage `common_coverage`; NULL without an
--     item
--   common_coverage: the lowest coverage that any cell has, or would have with twice its responses (Chao and Jost
--     2012)
--   at_responses: as many responses have it: fewer than the cell's (rarefied), or up to twice as many (extrapolated)
--   hill_0: Hill number of order 0: distinct items
--   hill_1: Hill number of order 1: items that are frequent (exponential of Shannon's entropy); of the sample, so it
--     grows with the responses
--   hill_2: Hill number of order 2: items that are very frequent (inverse of Simpson's concentration); of the sample
--   once: items that one response only mentions
--   twice: items that exactly two responses mention
CREATE VIEW diversity_companions AS
WITH known AS (
    SELECT *, min(responses) OVER () AS size
    FROM cell_diversity
    WHERE diversity IS NOT NULL
),
sums AS (
    SELECT
        k.model, k.language, k.topic, k.condition, k.country, k.wording, k.responses, k.size,
        coalesce(sum(items), 0)::BIGINT AS hill_0,
        coalesce(sum(seen * items), 0)::BIGINT AS incidences,
        sum(seen * ln(seen) * items ORDER BY seen) AS logarithms,
        sum(seen * seen * items)::DOUBLE AS squares,
        coalesce(sum(items) FILTER (seen = 1), 0)::BIGINT AS once,
        coalesce(sum(items) FILTER (seen = 2), 0)::BIGINT AS twice,
        coalesce(sum(items * expected_in(size, responses, seen) ORDER BY seen), 0) AS rarefied,
        list({'seen': seen, 'items': items} ORDER BY seen) FILTER (seen IS NOT NULL) AS counts
    FROM known AS k
    LEFT JOIN incidence_counts AS i USING (cell)
    GROUP BY ALL
),
shares AS (
    SELECT
        *,
        -- What is left of the uncovered share with each response more.
        CASE
            WHEN once = 0 THEN 0
            WHEN twice > 0 THEN (responses - 1) * once / ((responses - 1) * once + 2 * twice)
            ELSE (responses - 1) * (once - 1) / ((responses - 1) * (once - 1) + 2)
        END AS kept,
        CASE WHEN incidences > 0 AND responses > 1 THEN 1 - once / incidences * kept END AS coverage,
        -- Chao2: items that no response mentions.
        (responses - 1) / responses * CASE WHEN twice > 0 THEN once * once / twice ELSE once * (once - 1) END / 2 AS unseen
    FROM sums
),
targets AS (
    SELECT *, CASE WHEN coverage IS NOT NULL THEN min(1 - (1 - coverage) * kept ** responses) OVER () END AS common_coverage
    FROM shares
),
-- Of what covers more: the last number of responses below the common coverage. Of what covers less: how many are missing.
searched AS (
    SELECT
        *,
        CASE WHEN coverage > common_coverage THEN most_below(common_coverage, responses, counts) END AS below,
        CASE WHEN coverage < common_coverage THEN ln((1 - common_coverage) / (1 - coverage)) / ln(kept) ELSE 0 END AS more
    FROM targets
),
ends AS (
    SELECT
        *,
        covered_by(below, responses, counts) AS covered,
        CASE WHEN below + 1 = responses THEN coverage ELSE covered_by(below + 1, responses, counts) END AS covered_next,
        items_by(below, responses, counts) AS items,
        items_by(below + 1, responses, counts) AS items_next
    FROM searched
),
parts AS (
    SELECT *, (common_coverage - covered) / (covered_next - covered) AS part FROM ends
)
SELECT
    model, language, topic, condition, country, wording,
    coverage, rarefied, size AS rarefied_to,
    CASE
        WHEN coverage > common_coverage THEN items + (items_next - items) * part
        WHEN coverage IS NOT NULL AND unseen > 0 THEN
            hill_0 + unseen * (1 - (1 - once / (responses * unseen + once)) ** more)
        WHEN coverage IS NOT NULL THEN hill_0
    END AS at_coverage,
    common_coverage,
    CASE WHEN coverage > common_coverage THEN below + part WHEN coverage IS NOT NULL THEN responses + more END AS at_responses,
    hill_0,
    incidences * exp(-logarithms / incidences) AS hill_1,
    incidences::DOUBLE * incidences / squares AS hill_2,
    once, twice, incidences, responses
FROM parts;
