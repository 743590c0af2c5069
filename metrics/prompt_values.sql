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

-- prompt_contributions: a row is a response that names a linked item, and a share that has values of prompts: what the
-- response contributes to the share of its cell.
--   metric: one of `declared_metrics` with `of_prompts`

-- prompt_values: a row is a metric of one prompt as one model answered it: each of `declared_metrics` with `of_prompts`;
-- those per country where the prompt names one. The definitions are those of the cells, which may hold several prompts
-- (other names). `name` is the person's, alike in all languages. `estimate` is NULL where there is no number. `variance` is that of sampling: over other responses to the
-- same prompt. It is NULL with fewer than two responses, or where all linked items stand in one.
--   metric: one of `declared_metrics` with `of_prompts`
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
    SELECT prompt, count(*) AS responses FROM asked_extractions WHERE whole GROUP BY ALL
),
looked AS (
    SELECT m.prompt, count(*) AS mentions, count(*) FILTER (l.status IS NULL) AS awaiting
    FROM numbered_mentions AS m
    LEFT JOIN (SELECT query, status FROM links) AS l USING (query)
    WHERE m.counts
    GROUP BY ALL
),
seen AS MATERIALIZED (
    SELECT prompt_of(response) AS prompt, item, count(*) AS seen FROM named_items GROUP BY ALL
),
per_response AS MATERIALIZED (
    SELECT metric, prompt_of(response) AS prompt, numerator, denominator FROM prompt_contributions
),
totals AS MATERIALIZED (
    SELECT
        metric, prompt, sum(numerator ORDER BY numerator) AS numerator, sum(denominator) AS denominator, max(denominator) AS most
    FROM per_response
    GROUP BY ALL
),
changes AS ( -- by how much a share changes without each response
    SELECT
        metric, r.prompt,
        (r.numerator - t.numerator / t.denominator * r.denominator) / nullif(t.denominator - r.denominator, 0) AS change
    FROM per_response AS r
    INNER JOIN totals AS t USING (metric, prompt)
),
spread AS (
    SELECT metric, prompt, sum(change ORDER BY change) AS changes, sum(change ** 2 ORDER BY change ** 2) AS squares
    FROM changes
    GROUP BY ALL
),
uniques AS (
    SELECT prompt, sum(uniques)::DOUBLE AS uniques, sum(uniques * uniques)::DOUBLE AS bundled
    FROM (
        SELECT s.prompt, n.response, count(*) FILTER (s.seen = 1) AS uniques
        FROM named_items AS n
        INNER JOIN seen AS s ON prompt_of(n.response) = s.prompt AND n.item = s.item
        GROUP BY ALL
    )
    GROUP BY ALL
),
counts AS (
    SELECT prompt, count(*) AS items, count(*) FILTER (seen = 2) AS twice, sum(seen)::BIGINT AS incidences FROM seen GROUP BY ALL
),
asked_values AS (
    SELECT
        a.*, coalesce(r.responses, 0) AS responses, coalesce(c.incidences, 0) AS incidences,
        CASE
            WHEN looked_up(coalesce(r.responses, 0), coalesce(l.mentions, 0), coalesce(l.awaiting, 0))
            THEN coalesce(c.items, 0)::DOUBLE
        END AS items,
        -- independent items, times the design effect of those that only one response names
        CASE WHEN r.responses > 1 THEN
            expected_more(r.responses, coalesce(u.uniques, 0), chao2_unseen(r.responses, coalesce(u.uniques, 0), coalesce(c.twice, 0)))
            * CASE WHEN u.uniques > 0 THEN
                greatest(1, (u.bundled - u.uniques ** 2 / r.responses) / (u.uniques * (r.responses - 1) / r.responses))
            ELSE 1 END
        END AS items_variance
    FROM asked AS a
    LEFT JOIN read AS r USING (prompt)
    LEFT JOIN looked AS l USING (prompt)
    LEFT JOIN uniques AS u USING (prompt)
    LEFT JOIN counts AS c USING (prompt)
),
shares AS (
    SELECT
        a.*, m.metric, t.numerator / t.denominator AS estimate,
        CASE WHEN t.most < t.denominator THEN jackknife_variance(a.responses, s.changes, s.squares) END AS variance
    FROM asked_values AS a
    INNER JOIN (SELECT name AS metric, per_country FROM declared_metrics WHERE of_prompts AND statistic = 'share') AS m
        ON NOT m.per_country OR a.country IS NOT NULL
    LEFT JOIN totals AS t USING (metric, prompt)
    LEFT JOIN spread AS s USING (metric, prompt)
)
SELECT metric, model, prompt_id, language, topic, condition, country, wording, name, estimate, variance, responses, incidences
FROM shares
UNION ALL
SELECT
    m.name, model, prompt_id, language, topic, condition, country, wording, v.name, items,
    CASE WHEN items IS NOT NULL THEN items_variance END, responses, incidences
FROM asked_values AS v
CROSS JOIN (SELECT name FROM declared_metrics WHERE of_prompts AND statistic = 'distinct') AS m;
