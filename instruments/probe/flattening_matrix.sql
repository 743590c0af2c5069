-- Cultural flattening score of pairs of cultures
-- flattening_matrix: a row is a pair of cultures: F, its share of what is particular to the first, intervals, and p;
-- the share of all kept items that each of the two has; and of how many cultures the score depends.
--   culture_items: share of all kept items that `culture` has, 0 to 1
--   toward_items: share of all kept items that `toward` has, 0 to 1
-- printed: model, dataset, language, arm, filter, culture, toward, minimum, score, share, by_chance, p,
-- culture_items, toward_items, questions, cultures
-- no rows: no language has items of three cultures: there is no flattening score
WITH volumes AS (
    SELECT
        model, dataset, language, arm, filter, culture,
        count(*) OVER (PARTITION BY model, dataset, language, arm, filter) AS cultures,
        sum(occurrences) / sum(sum(occurrences)) OVER (PARTITION BY model, dataset, language, arm, filter) AS volume
    FROM probe_counts
    GROUP BY model, dataset, language, arm, filter, culture
)
SELECT
    f.model, f.dataset, f.language, f.arm, f.filter, f.culture, f.toward, f.minimum, f.score, f.low, f.high, f.share,
    f.share_low, f.share_high, f.by_chance, f.p, one.volume AS culture_items, other.volume AS toward_items, f.questions, one.cultures,
    f.no_interval
FROM probe_flattening AS f
LEFT JOIN volumes AS one
    ON (one.model, one.dataset, one.language, one.arm, one.filter, one.culture)
        = (f.model, f.dataset, f.language, f.arm, f.filter, f.culture)
LEFT JOIN volumes AS other
    ON (other.model, other.dataset, other.language, other.arm, other.filter, other.culture)
        = (f.model, f.dataset, f.language, f.arm, f.filter, f.toward)
ORDER BY f.model, f.dataset, f.language, f.arm, f.filter, f.culture, f.toward
