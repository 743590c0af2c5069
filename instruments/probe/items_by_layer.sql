-- Items by layer, and the share of them that repeats
-- items_by_layer: a row is a layer of a model under one arm and filter: the items that the filter keeps per text, and
-- the share of these that repeats the prompt, the culture's name, the question or the answer; both with 95 %
-- intervals over questions (the ratio's linearised variance; none of fewer than five questions, or where all are
-- alike). Layer 0: the arm 'text'.
--   kept_items: items that the filter keeps
--   echo_rate: share of the kept items that repeat, 0 to 1
-- printed: model, dataset, language, arm, filter, layer, questions, texts, kept_items, items, echo_rate
WITH filters AS (SELECT DISTINCT model, dataset, language, arm, filter FROM probe_judged),
counted AS (
    SELECT
        model, dataset, language, arm, filter, question_id, layer, count(*) FILTER (kept) AS kept,
        count(*) FILTER (kept AND echo IS NOT NULL) AS echoes
    FROM probe_judged
    GROUP BY ALL
),
texts AS (
    SELECT p.model, p.dataset, p.language, p.arm, f.filter, p.question_id, r.layer, count(*) AS texts
    FROM probe_readings AS r
    INNER JOIN probes AS p ON r.probe_id = p.probe_id
    INNER JOIN filters AS f USING (model, dataset, language, arm)
    WHERE p.status = 'ok'
    GROUP BY ALL
),
sums AS (
    SELECT
        t.model, t.dataset, t.language, t.arm, t.filter, t.layer, count(*) AS questions, sum(t.texts) AS texts,
        sum(coalesce(c.kept, 0)) AS kept, sum(coalesce(c.echoes, 0)) AS echoes,
        sum(t.texts * t.texts) AS tt, sum(t.texts * coalesce(c.kept, 0)) AS tk, sum(c.kept * c.kept) AS kk,
        sum(c.kept * c.echoes) AS ke, sum(c.echoes * c.echoes) AS ee
    FROM texts AS t
    LEFT JOIN counted AS c USING (model, dataset, language, arm, filter, question_id, layer)
    GROUP BY ALL
),
rates AS (
    SELECT
        *, kept / texts AS items, echoes / nullif(kept, 0) AS echo_rate,
        CASE WHEN questions >= 5 THEN questions / (questions - 1) END AS corrected
    FROM sums
),
spread AS (
    SELECT
        *, nullif(1.96 * sqrt(corrected * greatest(0, kk - 2 * items * tk + items ^ 2 * tt)) / texts, 0) AS items_half,
        nullif(1.96 * sqrt(corrected * greatest(0, ee - 2 * echo_rate * ke + echo_rate ^ 2 * kk)) / kept, 0) AS echo_half
    FROM rates
)
SELECT
    model, dataset, language, arm, filter, layer, CAST(questions AS BIGINT) AS questions, CAST(texts AS BIGINT) AS texts,
    CAST(kept AS BIGINT) AS kept_items, items, CASE WHEN items_half IS NOT NULL THEN greatest(0, items - items_half) END
        AS items_low,
    items + items_half AS items_high, echo_rate, CASE WHEN echo_half IS NOT NULL THEN greatest(0, echo_rate - echo_half) END
        AS echo_rate_low,
    CASE WHEN echo_half IS NOT NULL THEN least(1, echo_rate + echo_half) END AS echo_rate_high
FROM spread
ORDER BY model, dataset, language, filter, arm, layer
