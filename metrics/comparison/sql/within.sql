-- A row: the mean consensus of pairs of languages of one group, `a`, and of pairs across groups, `b`, for the same model,
-- topic, condition, country and wording. Groups are those of `claim_groups`; languages of none are left out.
WITH told AS (
    SELECT
        v.metric, v.model, v.topic, v.condition, v.country, v.wording, one.place = other.place AS own, v.estimate
    FROM cell_values AS v
    INNER JOIN claim_groups AS one ON v.language = one.language
    INNER JOIN claim_groups AS other ON v.other_language = other.language
    WHERE v.metric = 'consensus'
),
sides AS (
    SELECT
        metric, model, topic, condition, country, wording,
        avg(estimate ORDER BY estimate) FILTER (own) AS a,
        avg(estimate ORDER BY estimate) FILTER (NOT own) AS b,
        bool_or(own) AND bool_or(NOT own) AS both_asked
    FROM told
    GROUP BY ALL
)
SELECT metric, model, topic, condition, country, wording, false AS shared, a, b
FROM sides
WHERE both_asked
ORDER BY ALL
