-- What became of what each model was to answer, as shares. What one model of the run was asked, or has a score of, all were
-- to answer.
--   missing: answers that did not come, of the set, language and method with the most of them; of items without a score, by
--     the metric with the most of them
--   refused, unread, cut: of the answers that came: those that decline; those that no reader reads, and that do not decline;
--     those that ended at the limit of tokens. NULL of a model that has scores alone
WITH scores AS (
    SELECT a.model, q.set AS dataset, q.language, a.question_id, r.reader AS metric, r.matched
    FROM answers AS a INNER JOIN questions AS q USING (question_id) LEFT JOIN answer_readings AS r USING (answer_id)
    WHERE a.method = 'scored'
),
items AS (SELECT dataset, language, count(DISTINCT question_id) AS asked FROM scores GROUP BY ALL),
metrics AS (SELECT DISTINCT dataset, language, metric FROM scores WHERE matched IS NOT NULL),
requests AS (
    SELECT
        model, dataset, language, concat_ws(' ', method, owner) AS way, owner, question_id, prompt, sum(n) AS asked, sum(came) AS came
    FROM question_requests WHERE method <> 'scored' GROUP BY ALL
),
ways AS (
    SELECT dataset, language, way, owner, sum(asked) AS asked
    FROM (SELECT dataset, language, way, owner, question_id, prompt, max(asked) AS asked FROM requests GROUP BY ALL)
    GROUP BY ALL
),
-- What all are to answer, in parts, and what of each part a model answered.
parts AS (
    SELECT dataset, language, metric AS way, NULL AS owner, asked FROM items INNER JOIN metrics USING (dataset, language)
    UNION ALL
    SELECT dataset, language, way, owner, asked FROM ways
),
answered AS (
    SELECT model, dataset, language, metric AS way, count(matched) AS came FROM scores GROUP BY ALL
    UNION ALL
    SELECT model, dataset, language, way, sum(came) AS came FROM requests GROUP BY ALL
),
models AS (SELECT model FROM scores UNION SELECT model FROM requests),
lacking AS (
    SELECT m.model, max((p.asked - coalesce(a.came, 0)) / p.asked) AS missing
    FROM models AS m
    INNER JOIN parts AS p ON p.owner IS NULL OR p.owner = m.model
    LEFT JOIN answered AS a ON a.model = m.model AND a.dataset = p.dataset AND a.language = p.language AND a.way = p.way
    GROUP BY m.model
),
totals AS (
    SELECT
        m.model, (SELECT coalesce(sum(asked), 0)::BIGINT FROM items) + coalesce(sum(p.asked), 0)::BIGINT AS asked
    FROM models AS m LEFT JOIN ways AS p ON p.owner IS NULL OR p.owner = m.model
    GROUP BY m.model
),
came AS (
    SELECT model, sum(came)::BIGINT AS answered FROM (
        SELECT model, count(DISTINCT (dataset, language, question_id)) FILTER (matched IS NOT NULL) AS came FROM scores GROUP BY model
        UNION ALL
        SELECT model, came FROM requests
    ) GROUP BY model
),
read AS (
    SELECT
        answer_id, model, bool_or(outcome = 'refusal') AS refused, bool_and(outcome = 'unread') AS unread
    FROM question_readings WHERE method <> 'scored' AND outcome <> 'failed'
    GROUP BY ALL
),
-- A server says it in words of its own: these are the commonest ones, and its count of tokens says it, too.
cut AS (
    SELECT DISTINCT a.answer_id
    FROM answers AS a INNER JOIN wanted_answers AS w USING (request_id, question_id, prompt)
    WHERE a.completion_tokens >= w.max_tokens OR lower(a.finish_reason) IN ('length', 'max_tokens')
),
shares AS (
    SELECT model, avg(refused::INT) AS refused, avg((unread AND NOT refused)::INT) AS unread, avg((c.answer_id IS NOT NULL)::INT) AS cut
    FROM read LEFT JOIN cut AS c USING (answer_id)
    GROUP BY model
)
SELECT
    model, asked, answered, coalesce(missing, 1) AS missing,
    if(asks, coalesce(refused, 0), NULL) AS refused, if(asks, coalesce(unread, 0), NULL) AS unread, if(asks, coalesce(cut, 0), NULL) AS cut
FROM totals
INNER JOIN came USING (model)
INNER JOIN (SELECT model, bool_or(r.model IS NOT NULL) AS asks FROM models LEFT JOIN requests AS r USING (model) GROUP BY model) USING (model)
LEFT JOIN lacking USING (model)
LEFT JOIN shares USING (model)
ORDER BY model
