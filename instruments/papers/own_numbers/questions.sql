-- A row is a number of a question set (KoBBQ, CultureScope), keyed as the cells of `published`.
--   variant: how it was asked, and who read its answers; '' of the papers' own way
--   lacking: what of the answers that were asked for is missing, in words
--   spread: standard deviation over prompts, where there are several
WITH of_sets AS (
    SELECT
        w.model, q.set AS dataset, q.language, coalesce(q.facets['condition'], '-') AS condition, w.use,
        count(DISTINCT w.question_id) AS questions,
        sum(w.n)::BIGINT AS asked, (sum(w.n) - sum(coalesce(a.answered, 0)))::BIGINT AS unanswered
    FROM wanted_answers AS w
    INNER JOIN questions AS q USING (question_id)
    LEFT JOIN (
        SELECT request_id, question_id, prompt, model, count(*) AS answered FROM answers WHERE status = 'ok' GROUP BY ALL
    ) AS a USING (request_id, question_id, prompt, model)
    GROUP BY ALL
),
every_question AS ( -- Of a model: without those that were made for another one.
    SELECT s.model, s.dataset, s.language, s.condition, count(*) AS of_set
    FROM (SELECT DISTINCT model, dataset, language, condition FROM of_sets) AS s
    INNER JOIN questions AS q
        ON (q.set, q.language, coalesce(q.facets['condition'], '-')) = (s.dataset, s.language, s.condition)
        AND coalesce(q.facets['model'], s.model) = s.model
    GROUP BY ALL
),
of_labels AS ( -- A number of a label's questions lacks only such ones.
    SELECT
        w.model, q.set AS dataset, q.language, q.facets['label'] AS label, count(DISTINCT q.question_id) AS asked_of_label,
        any_value(e.of_label) AS of_label
    FROM wanted_answers AS w
    INNER JOIN questions AS q USING (question_id)
    INNER JOIN (SELECT set, language, facets['label'] AS label, count(*) AS of_label FROM questions GROUP BY ALL) AS e
        ON (e.set, e.language, e.label) = (q.set, q.language, q.facets['label'])
    WHERE q.facets['label'] IS NOT NULL -- two rows with NULL are equal
    GROUP BY ALL
),
stated AS (
    SELECT
        numbers.model,
        concat_ws(', ', nullif(method, 'generated'), -- Where the paper names its reader, others are told.
            CASE WHEN numbers.dataset IN ('kobbq', 'mtbbq') AND reader NOT IN ('-', 'publisher') THEN reader END) AS variant,
        measure, metric, level, numbers.dataset, numbers.language, country AS culture, topic, condition,
        map_from_entries(list_filter(
            map_entries(facets), lambda one: one.key <> 'test' AND one.value <> '*'
        )) AS facets,
        -- An answer that nobody could read is a wrong one; where none could be read, that is all that is known.
        CASE WHEN sizes['unread'] = sizes['answered'] AND NOT starts_with(metric, 'out_of_choice') THEN NULL ELSE estimate END
            AS estimate,
        low, high, no_interval, units AS n, unit,
        concat_ws(
            ', ',
            CASE WHEN coalesce(missing, 0) > 0 THEN missing || ' of ' || (cells + missing) || ' numbers' END,
            CASE WHEN unanswered > 0 THEN unanswered || ' of ' || asked || ' answers' END,
            CASE WHEN sizes['unread'] > 0 THEN sizes['unread'] || ' of ' || sizes['answered'] || ' answers not read' END,
            CASE WHEN coalesce(asked_of_label, questions) < coalesce(of_label, of_set)
                THEN (coalesce(of_label, of_set) - coalesce(asked_of_label, questions)) || ' of ' || coalesce(of_label, of_set)
                    || ' questions not asked' END
        ) AS lacking, coalesce(asked_of_label, questions) AS questions,
        count(*) OVER of_place AS wordings,
        stddev_samp(estimate ORDER BY estimate) FILTER (wording <> '*') OVER of_place AS spread, wording
    FROM numbers
    LEFT JOIN of_sets USING (model, dataset, language, condition)
    LEFT JOIN every_question USING (model, dataset, language, condition)
    LEFT JOIN of_labels AS l
        ON (l.model, l.dataset, l.language, l.label)
            = (numbers.model, numbers.dataset, numbers.language, numbers.facets['label'])
    WHERE measure = 'questions' AND coalesce(use = CASE method WHEN 'generated' THEN 'answer' ELSE 'score' END, true)
        AND level <> 'cell' AND coalesce(facets['test'], 'paper') = 'paper'
    -- Without the level: that of a number of one prompt names the wording.
    WINDOW of_place AS (
        PARTITION BY
            numbers.model, metric, numbers.dataset, numbers.language, country, topic, condition, method, reader, facets
    )
)
SELECT * EXCLUDE (wordings, wording) FROM stated WHERE wording = '*' OR wordings = 1
UNION ALL BY NAME
SELECT
    model, CASE WHEN reader NOT IN ('-', 'publisher') THEN reader ELSE '' END AS variant, measure, metric || '_p' AS metric,
    string_split(a, ', ')[1] AS dataset, language, country AS culture, topic, condition,
    map_concat(facets, MAP {'beside': string_split(b, ', ')[1]}) AS facets, p AS estimate, 'a test' AS no_interval, units AS n,
    unit
FROM differences
WHERE measure = 'questions' AND dimension = 'dataset' AND facets['label'] IS NOT NULL AND p IS NOT NULL
UNION ALL BY NAME
-- What was stopped has no number of the present data: why there is none.
SELECT model, 'questions' AS measure, dataset, sum(unanswered)::BIGINT || ' of ' || sum(asked)::BIGINT || ' answers' AS lacking
FROM of_sets
ANTI JOIN (FROM numbers WHERE measure = 'questions') USING (model, dataset)
WHERE use <> 'attend'
GROUP BY ALL
HAVING sum(unanswered) > 0
UNION ALL BY NAME
SELECT DISTINCT
    model, measure, dataset,
    max(sizes['unread']) OVER (PARTITION BY model, dataset) || ' of ' || max(sizes['answered']) OVER (PARTITION BY model, dataset)
        || ' answers not read' AS lacking
FROM numbers
WHERE measure = 'questions' AND starts_with(metric, 'out_of_choice') AND estimate = 1
    AND (wording, topic, country) = ('*', '*', '*') AND facets['label'] IS NULL
