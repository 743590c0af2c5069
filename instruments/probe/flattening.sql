-- The cultural flattening score, over the items that a filter keeps (`probe_kept`: a row is one occurrence of an item in
-- what a layer held of a question). A unit is one model, data set, asking language, arm and filter: items of different
-- languages never coincide as strings.

-- probe_counts: a row is an item of a culture, and how often it occurs over questions and layers.
CREATE VIEW probe_counts AS
SELECT model, dataset, language, arm, filter, culture, item_key, count(*) AS occurrences
FROM probe_kept
GROUP BY ALL;

-- probe_contributions: a row is an item of a culture, with its contribution to chi-square where it occurs more often than
-- expected: X = max(0, g - E)^2 / E with E = N_culture * N_item / N. Compared as whole numbers, so that an item that is
-- spread evenly has exactly 0.
--   of_culture: occurrences of all items of the culture
--   of_all: occurrences of all items of all cultures
--   expected: of_culture times the item's occurrences over of_all
--   contribution: X = max(0, occurrences - expected)^2 / expected
CREATE VIEW probe_contributions AS
WITH told AS (
    SELECT
        c.*,
        sum(occurrences) OVER (PARTITION BY model, dataset, language, arm, filter, culture) AS of_culture,
        sum(occurrences) OVER (PARTITION BY model, dataset, language, arm, filter, item_key) AS of_item,
        sum(occurrences) OVER (PARTITION BY model, dataset, language, arm, filter) AS of_all
    FROM probe_counts AS c
),
excess AS (SELECT *, greatest(0, occurrences * of_all - of_culture * of_item) AS above FROM told)
SELECT
    model, dataset, language, arm, filter, culture, item_key, occurrences, of_culture, of_all,
    CAST(of_culture AS DOUBLE) * of_item / of_all AS expected,
    CAST(above AS DOUBLE) * above / (CAST(of_all AS DOUBLE) * of_culture * of_item) AS contribution
FROM excess;

-- flattening: a row is an ordered pair of cultures: F, the sum of the contributions of `culture` over the items that are
-- over-represented for `toward` too. `minimum` leaves out items that occur less often in either (1: the paper's score).
-- Two cultures share no over-represented item by construction: a unit has at least three, named in `cultures`.
--   total: the sum of the contributions of `culture`
--   shared_items: items that are over-represented in both
--   score: F(culture -> toward)
--   share: score over total
CREATE VIEW flattening AS
WITH units AS (
    SELECT
        model, dataset, language, arm, filter, of_all,
        list(DISTINCT culture ORDER BY culture) AS culture_list
    FROM probe_contributions
    GROUP BY ALL
    HAVING count(DISTINCT culture) >= 3
),
over_represented AS (
    SELECT c.*, m.minimum
    FROM probe_contributions AS c
    CROSS JOIN (VALUES (1), (2)) AS m (minimum)
    WHERE c.contribution > 0 AND c.occurrences >= m.minimum
),
totals AS (
    SELECT model, dataset, language, arm, filter, culture, minimum, sum(contribution) AS total
    FROM over_represented
    GROUP BY ALL
),
shared AS (
    SELECT
        a.model, a.dataset, a.language, a.arm, a.filter, a.culture, b.culture AS toward, a.minimum,
        sum(a.contribution) AS score, count(*) AS items
    FROM over_represented AS a
    INNER JOIN over_represented AS b
        USING (model, dataset, language, arm, filter, item_key, minimum)
    WHERE a.culture <> b.culture
    GROUP BY ALL
),
pairs AS (
    SELECT u.*, one.culture, other.culture AS toward, m.minimum
    FROM units AS u, unnest(u.culture_list) AS one (culture), unnest(u.culture_list) AS other (culture),
        (VALUES (1), (2)) AS m (minimum)
    WHERE one.culture <> other.culture
)
SELECT
    p.model, p.dataset, p.language, p.arm, p.filter, p.culture, p.toward, p.minimum,
    coalesce(s.score, 0.0) AS score, coalesce(t.total, 0.0) AS total,
    coalesce(s.score, 0.0) / nullif(t.total, 0.0) AS share,  -- of what is particular to `culture`
    coalesce(s.items, 0) AS shared_items, CAST(p.of_all AS BIGINT) AS occurrences,
    array_to_string(p.culture_list, ', ') AS cultures
FROM pairs AS p
LEFT JOIN totals AS t USING (model, dataset, language, arm, filter, culture, minimum)
LEFT JOIN shared AS s USING (model, dataset, language, arm, filter, culture, toward, minimum);
