-- chao2_unseen: Chao's (1987) estimate of the items that no response names, from how many are named by one (`once`) and by
-- two (`twice`) of the responses.
CREATE MACRO chao2_unseen(responses, once, twice) AS
    (responses - 1) / responses * CASE WHEN twice > 0 THEN once * once / (2 * twice) ELSE once * (once - 1) / 2 END;

-- expected_more: the further items that as many responses again are expected to name (Chao et al. 2014, equation 9), of
-- `unseen` ones. Where items are independent, it is also the variance of the number of items.
CREATE MACRO expected_more(responses, once, unseen) AS
    CASE WHEN unseen > 0 THEN unseen * (1 - (1 - once / (responses * unseen + once)) ** responses) ELSE 0.0 END;

-- jackknife_variance: the delete-one variance from the sums of all changes and of their squares, over `responses`.
CREATE MACRO jackknife_variance(responses, changes, squares) AS
    CASE WHEN responses > 1 THEN greatest(0, (responses - 1) / responses * (squares - changes * changes / responses)) END;

-- prompt_values: a row is a metric of one prompt as one model answered it: 'granularity', 'diversity', or, where a country is
-- named, 'specificity'. The definitions are those of the cells, which may hold several prompts (other
-- names). `name` is the person's, alike in all languages. `estimate` is NULL where there is no number. `variance` is that of sampling: over other responses to the
-- same prompt. It is NULL with fewer than two responses, or where all linked items stand in one.
--   metric: 'granularity', 'diversity' or 'specificity'
--   estimate: the metric of this prompt; NULL where there is none
--   variance: variance of the estimate over other responses to the same prompt; NULL where it is unknown
--   incidences: linked items, each once per response that mentions it
CREATE VIEW prompt_values AS
WITH asked AS MATERIALIZED (
    SELECT a.prompt, a.model, p.prompt_id, p.language, p.topic, p.condition, p.country, p.wording, coalesce(p.person, p.name) AS name
    FROM asked_prompts AS a
    INNER JOIN prompts AS p USING (prompt_id)
),
read AS (
    SELECT p.prompt, count(*) FILTER (e.status = 'ok') AS responses
    FROM extractions AS e
    INNER JOIN asked_prompts AS p USING (request_id)
    ANTI JOIN copies AS c ON e.request_id = c.request_id AND e.sample = c.sample
    GROUP BY ALL
),
meanings AS MATERIALIZED (
    SELECT query, status, qid, dense_rank() OVER (ORDER BY qid)::INTEGER AS item FROM links
),
mentioned AS MATERIALIZED ( -- numbers alone: there are as many rows as mentions
    SELECT
        m.prompt, m.sample, CASE WHEN l.status = 'linked' THEN l.item END AS item,
        count(*) AS mentions, count(*) FILTER (m.granularity = 1) AS specific,
        count(*) FILTER (l.status IS NULL) AS awaiting
    FROM numbered_mentions AS m
    LEFT JOIN meanings AS l USING (query)
    WHERE m.counts
    GROUP BY ALL
),
looked AS (
    SELECT prompt, sum(mentions)::BIGINT AS mentions, sum(awaiting)::BIGINT AS awaiting FROM mentioned GROUP BY prompt
),
seen AS MATERIALIZED (
    SELECT prompt, item, count(*) AS seen FROM mentioned WHERE item IS NOT NULL GROUP BY ALL
),
native AS (
    SELECT DISTINCT m.item, a.country FROM meanings AS m INNER JOIN associations AS a USING (qid) WHERE m.status = 'linked'
),
per_response AS MATERIALIZED (
    SELECT
        m.prompt, m.sample, count(*) AS items, sum(mean_label(m.specific, m.mentions))::DOUBLE AS specific,
        count(n.item) AS associated, count(*) FILTER (s.seen = 1) AS uniques
    FROM mentioned AS m
    INNER JOIN seen AS s USING (prompt, item)
    INNER JOIN asked AS a USING (prompt)
    LEFT JOIN native AS n ON m.item = n.item AND a.country = n.country
    GROUP BY ALL
),
totals AS MATERIALIZED (
    SELECT
        prompt, sum(items)::DOUBLE AS items, sum(specific ORDER BY specific) AS specific, sum(associated)::DOUBLE AS associated,
        max(items) AS most, sum(uniques)::DOUBLE AS uniques, sum(uniques * uniques)::DOUBLE AS bundled
    FROM per_response
    GROUP BY prompt
),
changes AS ( -- by how much a share changes without each response
    SELECT
        r.prompt,
        (r.specific - t.specific / t.items * r.items) / nullif(t.items - r.items, 0) AS granularity,
        (r.associated - t.associated / t.items * r.items) / nullif(t.items - r.items, 0) AS specificity
    FROM per_response AS r
    INNER JOIN totals AS t USING (prompt)
),
spread AS (
    SELECT
        prompt,
        sum(granularity ORDER BY granularity) AS granularity, sum(granularity ** 2 ORDER BY granularity ** 2) AS granularity_2,
        sum(specificity ORDER BY specificity) AS specificity, sum(specificity ** 2 ORDER BY specificity ** 2) AS specificity_2
    FROM changes
    GROUP BY prompt
),
counts AS (
    SELECT prompt, count(*) AS items, count(*) FILTER (seen = 2) AS twice FROM seen GROUP BY prompt
),
shares AS (
    SELECT
        a.*, coalesce(r.responses, 0) AS responses, coalesce(t.items, 0)::BIGINT AS incidences,
        t.specific / t.items AS granularity, t.associated / t.items AS specificity,
        CASE WHEN t.most < t.items THEN jackknife_variance(r.responses, s.granularity, s.granularity_2) END AS granularity_variance,
        CASE WHEN t.most < t.items THEN jackknife_variance(r.responses, s.specificity, s.specificity_2) END AS specificity_variance,
        CASE
            WHEN looked_up(coalesce(r.responses, 0), coalesce(l.mentions, 0), coalesce(l.awaiting, 0))
            THEN coalesce(c.items, 0)::DOUBLE
        END AS diversity,
        -- independent items, times the design effect of those that only one response names
        CASE WHEN r.responses > 1 THEN
            expected_more(r.responses, coalesce(t.uniques, 0), chao2_unseen(r.responses, coalesce(t.uniques, 0), coalesce(c.twice, 0)))
            * CASE WHEN t.uniques > 0 THEN
                greatest(1, (t.bundled - t.uniques ** 2 / r.responses) / (t.uniques * (r.responses - 1) / r.responses))
            ELSE 1 END
        END AS diversity_variance
    FROM asked AS a
    LEFT JOIN read AS r USING (prompt)
    LEFT JOIN looked AS l USING (prompt)
    LEFT JOIN totals AS t USING (prompt)
    LEFT JOIN spread AS s USING (prompt)
    LEFT JOIN counts AS c USING (prompt)
)
SELECT
    v.metric, s.model, s.prompt_id, s.language, s.topic, s.condition, s.country, s.wording, s.name,
    v.estimate, CASE WHEN v.estimate IS NOT NULL THEN v.variance END AS variance, s.responses, s.incidences
FROM shares AS s
LEFT JOIN uncovered_countries AS u ON s.topic = u.topic AND s.country = u.country
CROSS JOIN LATERAL (
    VALUES
        ('granularity', s.granularity, s.granularity_variance),
        ('diversity', s.diversity, s.diversity_variance),
        ('specificity', CASE WHEN u.topic IS NULL THEN s.specificity END, s.specificity_variance)
) AS v (metric, estimate, variance)
WHERE v.metric <> 'specificity' OR s.country IS NOT NULL;
