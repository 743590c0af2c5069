-- A row is a number of the run, keyed as the cells of `published`: what papers print, whatever table it is stored in. Cultural
-- Bias Scores come by the paper's protocol from `own`.
--   variant: what tells rows of one model apart: how it was asked, and who read its answers; '' of the papers' own way
--   lacking: what of the answers that were asked for is missing, in words
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
off_language AS (
    SELECT model, coalesce(language, '*') AS language, sum(off_language)::BIGINT AS texts, sum(answered)::BIGINT AS of_texts
    FROM health
    GROUP BY GROUPING SETS ((model), (model, language))
),
stated AS (
    SELECT
        numbers.model,
        CASE
            WHEN measure = 'questions'
                THEN concat_ws(', ', nullif(method, 'generated'), -- Where the paper names its reader, others are told.
                    CASE WHEN numbers.dataset IN ('kobbq', 'mtbbq') AND reader NOT IN ('-', 'publisher') THEN reader END)
            ELSE ''
        END AS variant,
        measure, metric, level, numbers.dataset, numbers.language, country AS culture, topic, condition,
        map_from_entries(list_filter(
            map_entries(facets), lambda one: one.key <> 'test' AND one.value <> '*'
        )) AS facets,
        -- An answer that nobody could read is a wrong one; where none could be read, that is all that is known.
        CASE WHEN sizes['unread'] = sizes['answered'] AND NOT starts_with(metric, 'out_of_choice') THEN NULL ELSE estimate END
            AS estimate,
        low, high, no_interval, CASE measure WHEN 'entities' THEN n ELSE units END AS n,
        CASE measure WHEN 'entities' THEN 'linked item' ELSE unit END AS unit,
        concat_ws(
            ', ',
            CASE WHEN coalesce(missing, 0) > 0 THEN missing || ' of ' || (cells + missing) || ' numbers' END,
            CASE WHEN unanswered > 0 THEN unanswered || ' of ' || asked || ' answers' END,
            CASE WHEN sizes['unread'] > 0 THEN sizes['unread'] || ' of ' || sizes['answered'] || ' answers not read' END,
            CASE WHEN coalesce(asked_of_label, questions) < coalesce(of_label, of_set)
                THEN (coalesce(of_label, of_set) - coalesce(asked_of_label, questions)) || ' of ' || coalesce(of_label, of_set)
                    || ' questions not asked' END
        ) AS lacking, coalesce(asked_of_label, questions) AS questions,
        CASE WHEN measure = 'entities' AND o.texts > 0
            THEN o.texts || ' of ' || of_texts || ' texts are not in their prompt''s language' END AS told,
        count(*) OVER of_place AS wordings,
        stddev_samp(estimate ORDER BY estimate) FILTER (wording <> '*') OVER of_place AS spread, wording
    FROM numbers
    LEFT JOIN of_sets USING (model, dataset, language, condition)
    LEFT JOIN every_question USING (model, dataset, language, condition)
    LEFT JOIN off_language AS o USING (model, language)
    LEFT JOIN of_labels AS l
        ON (l.model, l.dataset, l.language, l.label)
            = (numbers.model, numbers.dataset, numbers.language, numbers.facets['label'])
    WHERE measure IN ('entities', 'questions') AND coalesce(use = CASE method WHEN 'generated' THEN 'answer' ELSE 'score' END, true)
        AND level <> 'cell' AND coalesce(facets['test'], 'paper') = 'paper'
    -- Without the level: that of a number of one prompt names the wording.
    WINDOW of_place AS (
        PARTITION BY
            numbers.model, measure, metric, numbers.dataset, numbers.language, country, topic, condition, method, reader, facets
    )
),
wanted_texts AS (
    SELECT w.model, w.task, w.answer_method, w.dataset, c.language, w.culture, w.setting, count(*) AS wanted
    FROM wanted_swap_texts AS w
    INNER JOIN dataset_contexts AS c USING (context_id)
    GROUP BY ALL
),
answered_texts AS (
    SELECT
        model, task, answer_method, dataset, language, culture, setting, count(*) AS answered,
        count(*) FILTER (status = 'failed') AS unread
    FROM swap_answers
    WHERE status = 'ok' OR raw IS NOT NULL
    GROUP BY ALL
),
unanswered AS (
    SELECT * EXCLUDE (answered, unread), wanted - coalesce(answered, 0) AS missing, coalesce(answered, 0) AS answered,
        coalesce(unread, 0) AS unread
    FROM wanted_texts
    LEFT JOIN answered_texts USING (model, task, answer_method, dataset, language, culture, setting)
),
rates AS (
    SELECT
        answer_method, model, CASE answer_method WHEN 'prompt' THEN '' ELSE answer_method END AS variant, task AS measure,
        regexp_replace(metric, '^strict_', '') AS metric, dataset, language, culture,
        coalesce(entity_type, '*') AS topic, setting AS condition, contexts,
        unnest([
            {side: 'native', estimate: native, low: native_low, high: native_high},
            {side: 'western', estimate: western, low: western_low, high: western_high},
            {side: 'difference', estimate: difference, low: difference_low, high: difference_high},
            {
                side: 'absolute_difference', estimate: abs(difference),
                low: CASE WHEN difference_low <= 0 AND difference_high >= 0 THEN 0
                    ELSE least(abs(difference_low), abs(difference_high)) END,
                high: greatest(abs(difference_low), abs(difference_high))
            }
        ], recursive := true),
        starts_with(metric, 'strict_') AS is_strict
    FROM (
        -- An answer that nobody could read is a wrong one; where none of a side could be read, that is all that is known.
        SELECT * REPLACE (
            CASE WHEN native_readable > 0 THEN native END AS native, CASE WHEN western_readable > 0 THEN western END AS western,
            CASE WHEN native_readable > 0 AND western_readable > 0 THEN difference END AS difference
        )
        FROM swap_rates
    )
    WHERE task IN ('qa', 'ner') AND metric IN ('accuracy', 'f1', 'strict_accuracy', 'strict_f1') AND culture IS NOT NULL
),
sides AS (
    FROM rates
    -- As the papers match, by characters alone, where answers were read so.
    QUALIFY is_strict OR NOT bool_or(is_strict) OVER (
        PARTITION BY model, answer_method, measure, metric, dataset, language, culture, topic, condition, side
    )
),
labels AS (
    SELECT
        answer_method, model, CASE answer_method WHEN 'prompt' THEN '' ELSE answer_method END AS variant, dataset, language, culture,
        coalesce(entity_type, '*') AS topic, replace(setting, ' + ', ', ') AS condition,
        -- The papers' false negative is a positive text with another label.
        CASE counted WHEN 'missed_positives' THEN 'false_negatives' ELSE counted END AS metric,
        unnest(['native', 'western', 'absolute_difference']) AS side,
        unnest([
            native / nullif(native_texts, 0), western / nullif(western_texts, 0),
            2 * absolute_difference / nullif(native_texts + western_texts, 0)
        ]) AS estimate,
        native_texts::BIGINT AS texts, draws, 2 * chance / nullif(native_texts + western_texts, 0) AS chance
    FROM sentiment_count_differences
    WHERE counted IN ('missed_positives', 'false_positives')
),
unprobed AS (
    SELECT w.model, w.dataset, w.language, w.arm, count(*) FILTER (p.question_key IS NULL) AS missing, count(*) AS wanted
    FROM wanted_probes AS w
    LEFT JOIN (SELECT DISTINCT model, arm, question_key FROM probes WHERE status = 'ok') AS p USING (model, arm, question_key)
    GROUP BY ALL
),
-- What of the protocol the rows themselves tell: CultureScope sums nouns and verbs (4.1, step 1).
told_words AS (
    SELECT
        model, dataset, language,
        CASE WHEN bool_or(starts_with(word_rule, 'rule')) THEN 'content words by a word list, not by a tagger' END AS told
    FROM probes
    GROUP BY ALL
),
unattended AS (
    SELECT w.model, q.set AS dataset, q.language, count(*) FILTER (a.question_id IS NULL) AS missing, count(*) AS wanted
    FROM wanted_attention AS w
    INNER JOIN questions AS q USING (question_id)
    LEFT JOIN (SELECT DISTINCT model, question_id, prompt FROM attention WHERE status = 'ok') AS a
        USING (model, question_id, prompt)
    GROUP BY ALL
),
-- Comparisons of a type that are wanted and were not measured: a killed command leaves those of an earlier one.
unrepresented AS (
    SELECT
        w.model, w.dataset, w.language, w.culture, w.form, w.setting, count(*) FILTER (s.comparison IS NULL) AS missing,
        count(*) AS wanted
    FROM (
        SELECT DISTINCT model, dataset, language, culture, form, setting, entity_type, comparison FROM wanted_representations
    ) AS w
    LEFT JOIN (SELECT DISTINCT model, entity_type, comparison FROM separations) AS s USING (model, entity_type, comparison)
    GROUP BY ALL
),
swapped AS (
    SELECT
        answer_method, model, variant, measure, metric, dataset, language, culture, topic, condition, side, estimate, low, high,
        NULL AS no_interval, contexts AS n, 'context' AS unit, NULL AS told
    FROM sides
    UNION ALL
    SELECT
        answer_method, model, variant, 'sentiment', metric, dataset, language, culture, topic, condition, side, estimate, NULL,
        NULL, CASE side WHEN 'absolute_difference' THEN 'without any effect it is ' || round(100 * chance, 2) || ' %' END,
        texts, 'text',
        -- Camellia's Tables 15, 16, 19, 20 print |difference| of three draws (Figure 5).
        CASE WHEN side = 'absolute_difference' AND draws > 1
            THEN '|difference| is the mean of the draws'', not |mean|: the paper does not say which' END
    FROM labels
)
SELECT * EXCLUDE (wordings, wording) FROM stated WHERE wording = '*' OR wordings = 1
UNION ALL BY NAME
SELECT
    model, CASE WHEN reader NOT IN ('-', 'publisher') THEN reader ELSE '' END AS variant, measure, metric || '_p' AS metric,
    '-' AS level, string_split(a, ', ')[1] AS dataset, language, country AS culture, topic, condition,
    map_concat(facets, MAP {'beside': string_split(b, ', ')[1]}) AS facets, p AS estimate, NULL AS low, NULL AS high, 'a test' AS no_interval, units AS n,
    unit, '' AS lacking
FROM differences
WHERE measure = 'questions' AND dimension = 'dataset' AND facets['label'] IS NOT NULL AND p IS NOT NULL
UNION ALL BY NAME
SELECT
    s.model, s.variant, s.measure, s.metric, '-' AS level, s.dataset, s.language, s.culture, s.topic, s.condition,
    MAP {'side': side} AS facets, s.estimate, s.low, s.high, s.no_interval, s.n, s.unit, s.told,
    coalesce((
        SELECT concat_ws(
            ', ', CASE WHEN sum(u.missing) > 0 THEN sum(u.missing) || ' of ' || sum(u.wanted) || ' texts without an answer' END,
            CASE WHEN sum(u.unread) > 0 THEN sum(u.unread) || ' of ' || sum(u.answered) || ' answers not read' END
        )
        FROM unanswered AS u
        WHERE (u.model, u.task, u.answer_method, u.dataset) = (s.model, s.measure, s.answer_method, s.dataset)
            AND (u.language, u.culture) = (s.language, s.culture)
            AND list_contains(string_split(s.condition, ', '), u.setting)
    ), '') AS lacking
FROM swapped AS s
UNION ALL BY NAME
SELECT
    model, CASE WHEN form = 'causal' THEN form ELSE '' END AS variant, 'embeddings' AS measure, 'davies_bouldin' AS metric,
    '-' AS level, dataset, language, culture, coalesce(entity_type, '*') AS topic, coalesce(setting, 'neutral') AS condition,
    CASE WHEN gender IS NULL THEN MAP {} ELSE MAP {'gender': gender} END AS facets, estimate, NULL AS low, NULL AS high,
    'the index of these entities' AS no_interval, contexts AS n, 'context' AS unit,
    concat_ws(', ', CASE WHEN failed > 0 THEN failed || ' entities without a vector' END,
        CASE WHEN missing > 0 AND entity_type IS NULL THEN missing || ' of ' || wanted || ' sets of entities not measured' END
    ) AS lacking
FROM separations
LEFT JOIN unrepresented USING (model, dataset, language, culture, form, setting)
WHERE estimate IS NOT NULL
-- At the last layer that was asked for; of several sets of contexts the largest.
QUALIFY layer = max(layer) OVER (PARTITION BY model, dataset, language, culture, form, setting)
    AND row_number() OVER (
        PARTITION BY model, dataset, language, culture, form, setting, entity_type, gender, layer
        ORDER BY contexts DESC, native_entities + western_entities DESC, comparison
    ) = 1
UNION ALL BY NAME
SELECT
    model, '' AS variant, 'tokens' AS measure, 'share' AS metric, '-' AS level, '-' AS dataset, language, '-' AS culture,
    '-' AS topic, characters AS condition, MAP {'reading': reading} AS facets,
    share AS estimate, NULL AS low, NULL AS high, 'all tokens are counted' AS no_interval, tokens AS n, 'token' AS unit,
    '' AS lacking
FROM vocabulary_shares
WHERE share IS NOT NULL AND NOT starts_with(model, 'mock:') -- which has no vocabulary of its own, but bytes
UNION ALL BY NAME
SELECT
    coalesce(model, 'all ' || models || ' models') AS model, '' AS variant, 'linking' AS measure, metric, level, '-' AS dataset,
    coalesce(language, '*') AS language, '-' AS culture, coalesce(topic, '*') AS topic, '-' AS condition, MAP {} AS facets,
    estimate, NULL AS low, NULL AS high, 'a count' AS no_interval, labels AS n, 'label' AS unit, '' AS lacking,
    concat_ws('; ',
        -- C.3 counts the items and labels of the paper's seven models together; C.2 has an average.
        CASE
            WHEN metric = 'unlinked' OR level = 'model, language' THEN NULL
            WHEN model IS NOT NULL THEN 'one model, where the paper counts seven together'
            WHEN models <> 7 THEN models || ' models together, where the paper counts seven'
        END,
        CASE WHEN metric NOT IN ('items') THEN 'a label counts once in each language and kind (C.3 does not say)' END
    ) AS told
FROM (
    SELECT level, model, language, topic, labels, (SELECT count(DISTINCT model) FROM numbered_cells) AS models,
        unnest(['unlinked', 'items', 'labels', 'resolve_rate']) AS metric,
        unnest([1 - label_rate, items, labels, items / labels]) AS estimate
    FROM resolution_rates
    WHERE level IN ('topic', 'model, topic', 'model, language') AND averaged_over IS NULL AND labels > 0
)
-- Of one model, all models together are that model.
WHERE level <> 'topic' OR (models > 1 AND metric <> 'unlinked')
UNION ALL BY NAME
SELECT
    n.model, coalesce(nullif(nullif(n.method, 'paper'), '-'), '') AS variant, n.measure, n.metric, '-' AS level,
    CASE n.dataset WHEN 'blend-' || n.language THEN 'blend' ELSE n.dataset END AS dataset, -- all cultures in one language
    n.language, n.country AS culture, n.topic, n.condition, n.facets, n.estimate, n.low, n.high, n.no_interval,
    CASE n.metric WHEN 'similarity' THEN n.n ELSE n.units END AS n, CASE n.metric WHEN 'similarity' THEN 'item' ELSE n.unit END
        AS unit,
    s.estimate AS spread, w.told,
    CASE WHEN u.missing > 0 THEN u.missing || ' of ' || u.wanted || ' questions without an answer' ELSE '' END AS lacking
FROM numbers AS n
LEFT JOIN unprobed AS u ON (u.model, u.dataset, u.language, u.arm) = (n.model, n.dataset, n.language, n.condition)
LEFT JOIN numbers AS s
    ON n.metric = 'similarity' AND (s.measure, s.metric) = ('probe', 'similarity_sd')
    AND (s.model, s.dataset, s.language, s.condition) = (n.model, n.dataset, n.language, n.condition)
LEFT JOIN told_words AS w ON (w.model, w.dataset, w.language) = (n.model, n.dataset, n.language)
WHERE n.measure = 'probe' AND n.metric IN ('flattening', 'similarity') AND n.estimate IS NOT NULL
UNION ALL BY NAME
SELECT
    n.model, coalesce(nullif(n.reader, 'ours'), '') AS variant, n.measure, n.metric, '-' AS level, n.dataset, n.language, n.country AS culture, n.topic, n.condition,
    map_from_entries(list_filter(map_entries(n.facets), lambda one: one.key <> 'test')) AS facets, n.estimate, n.low, n.high,
    n.no_interval, n.n, 'option' AS unit,
    CASE WHEN u.missing > 0 THEN u.missing || ' of ' || u.wanted || ' questions without attention' ELSE '' END AS lacking
FROM numbers AS n
LEFT JOIN unattended AS u USING (model, dataset, language)
WHERE n.measure = 'attention' AND n.metric IN ('contribution', 'contribution_p') AND n.estimate IS NOT NULL
UNION ALL BY NAME
-- What was stopped has no number of the present data: why there is none.
SELECT
    model, '' AS variant, measure, '' AS metric, '-' AS level, dataset, '*' AS language, '*' AS culture, '*' AS topic,
    '-' AS condition, MAP {} AS facets, NULL AS estimate, NULL AS low, NULL AS high, NULL AS no_interval, NULL AS n, '' AS unit,
    missing || ' of ' || wanted || ' ' || what AS lacking
FROM (
    SELECT model, dataset, 'probe' AS measure, 'questions without an answer' AS what, missing, wanted FROM unprobed
    WHERE arm = 'patched'
    UNION ALL
    SELECT model, dataset, 'attention', 'questions without attention', missing, wanted FROM unattended
    UNION ALL
    SELECT model, dataset, 'questions', 'answers', sum(unanswered)::BIGINT, sum(asked)::BIGINT FROM of_sets GROUP BY ALL
    UNION ALL
    SELECT model, dataset, task, 'texts without an answer', sum(missing)::BIGINT, sum(wanted)::BIGINT FROM unanswered GROUP BY ALL
)
ANTI JOIN numbers USING (measure, model, dataset)
WHERE missing > 0
UNION ALL BY NAME
SELECT DISTINCT
    model, '' AS variant, measure, '' AS metric, '-' AS level, dataset, '*' AS language, '*' AS culture, '*' AS topic,
    '-' AS condition, MAP {} AS facets, NULL AS estimate, NULL AS low, NULL AS high, NULL AS no_interval, NULL AS n, '' AS unit,
    max(sizes['unread']) OVER (PARTITION BY model, dataset) || ' of ' || max(sizes['answered']) OVER (PARTITION BY model, dataset)
        || ' answers not read' AS lacking
FROM numbers
WHERE measure = 'questions' AND starts_with(metric, 'out_of_choice') AND estimate = 1
    AND (wording, topic, country) = ('*', '*', '*') AND facets['label'] IS NULL
