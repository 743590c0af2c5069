-- Cultural flattening score of pairs of cultures
-- flattening_matrix: a row is a pair of cultures: F, its share of what is particular to the first, intervals, and p;
-- the share of all kept items that the second has; and of how many cultures the score depends.
--   protocol: 'paper': a layer was replaced alone; 'released': with the two below, as in the published code
--   score: F(culture -> toward)
--   toward: the culture whose items it shares
--   share: F over all that is particular to `culture`
--   share_low: 95 % interval of `share`, over questions
--   share_high: as `share_low`
--   by_chance: the mean score with cultures permuted within questions
--   p: share of permutations with as high a score
--   toward_items: share of all kept items that `toward` has, 0 to 1
--   questions: that the score rests on
--   cultures: how many there are; the score depends on the whole set
-- printed: model, dataset, language, arm, protocol, filter, culture, toward, score, share, by_chance, p, toward_items, questions, cultures
-- no rows: no language has items of three cultures: there is no flattening score
WITH pairs AS (
    SELECT *, facets['toward'] AS toward FROM numbers WHERE measure = 'probe' AND metric = 'flattening'
),
volumes AS (
    SELECT
        model, dataset, language, condition, method, country,
        any_value(n) / sum(any_value(n)) OVER (PARTITION BY model, dataset, language, condition, method) AS volume
    FROM pairs
    GROUP BY model, dataset, language, condition, method, country
),
protocols AS (
    SELECT model, dataset, language, arm AS condition, any_value(protocol) AS protocol FROM probes GROUP BY ALL
)
SELECT
    f.model, f.dataset, f.language, f.condition AS arm, p.protocol, f.method AS filter, f.country AS culture, f.toward,
    f.estimate AS score, f.low, f.high, s.estimate AS share, s.low AS share_low, s.high AS share_high,
    c.b_estimate AS by_chance, c.p, v.volume AS toward_items, f.units AS questions, f.sizes['cultures'] AS cultures,
    f.no_interval
FROM pairs AS f
INNER JOIN numbers AS s USING (measure, model, dataset, language, condition, method, country, facets)
INNER JOIN differences AS c
    USING (measure, model, dataset, language, condition, method, country, facets)
INNER JOIN protocols AS p USING (model, dataset, language, condition)
INNER JOIN volumes AS v
    ON (v.model, v.dataset, v.language, v.condition, v.method, v.country)
        = (f.model, f.dataset, f.language, f.condition, f.method, f.toward)
WHERE s.metric = 'flattening_share' AND c.dimension = 'chance' AND c.target = 'new_prompts'
ORDER BY f.model, f.dataset, f.language, arm, filter, culture, f.toward
