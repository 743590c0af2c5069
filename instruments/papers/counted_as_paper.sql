-- A row is a share of linked items of a model, language, condition and country, as MAKIEval counts it: a mean over topics and
-- wordings, each cell with the same weight.
--   $union: an item counts once for a prompt, in however many responses it is (section 4: E is the union of all predicted
--     entities across responses); else once for each response that names it
--   $countries: an item belongs to its country of origin, and to the nationality of its author or performer (3.3: P495, and P27
--     of P50, of P175 or of the item); else also to whatever else `entity_countries` says
WITH counted AS (
    SELECT cell, qid, CASE WHEN $union THEN 1 ELSE seen END AS weight, specific / nullif(mentions, 0) AS granularity
    FROM cell_incidence
),
belongs AS (
    SELECT DISTINCT qid, country
    FROM entity_countries
    WHERE country IS NOT NULL AND (NOT $countries OR property IN ('P495', 'P50/P27', 'P175/P27', 'P27'))
),
sizes AS (
    SELECT cell, sum(weight) AS items, sum(weight * granularity) / nullif(sum(weight), 0) AS granularity FROM counted GROUP BY cell
),
native AS (
    SELECT c.cell, b.country, sum(c.weight) AS items
    FROM counted AS c
    INNER JOIN belongs AS b USING (qid)
    GROUP BY ALL
),
shares AS MATERIALIZED (
    SELECT
        q.model, q.language, q.topic, q.condition, q.country, q.wording, s.items,
        CASE WHEN u.topic IS NULL THEN coalesce(n.items, 0) / s.items END AS specificity
    FROM asked_countries AS q
    LEFT JOIN sizes AS s USING (cell)
    LEFT JOIN native AS n USING (cell, country)
    LEFT JOIN uncovered_countries AS u ON q.topic = u.topic AND q.country = u.country
),
found AS (
    SELECT 'specificity' AS metric, model, language, condition, country, specificity AS estimate, items
    FROM shares
    WHERE condition <> 'neutral' OR country IN (FROM countries)
    UNION ALL
    SELECT 'specificity_gain', s.model, s.language, s.condition, s.country, s.specificity - n.specificity, s.items + n.items
    FROM shares AS s
    INNER JOIN shares AS n
        ON n.condition = 'neutral'
        AND (s.model, s.language, s.topic, s.country, s.wording) = (n.model, n.language, n.topic, n.country, n.wording)
    WHERE s.condition <> 'neutral'
    UNION ALL
    SELECT 'granularity', c.model, c.language, c.condition, coalesce(c.country, 'none'), s.granularity, s.items
    FROM numbered_cells AS c
    INNER JOIN sizes AS s USING (cell)
    WHERE $union
)
SELECT
    metric, model, language, condition, country,
    avg(estimate ORDER BY estimate) AS estimate, sum(items) FILTER (estimate IS NOT NULL)::BIGINT AS n
FROM found
GROUP BY ALL
