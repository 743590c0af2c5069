-- A row is a rate of swapped entities (CAMeL, Camellia), keyed as the cells of `published`.
--   variant: how the answers came, where no prompt asked
--   lacking: what of the answers that were asked for is missing, in words
WITH wanted_texts AS (
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
        metric, dataset, language, culture,
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
        reading = 'strict' AS is_strict
    FROM (
        -- An answer that nobody could read is a wrong one; where none of a side could be read, that is all that is known.
        SELECT * REPLACE (
            CASE WHEN native_readable > 0 THEN native END AS native, CASE WHEN western_readable > 0 THEN western END AS western,
            CASE WHEN native_readable > 0 AND western_readable > 0 THEN difference END AS difference
        )
        FROM swap_rates
    )
    WHERE task IN ('qa', 'ner') AND metric IN ('accuracy', 'f1') AND reading <> 'readable' AND culture IS NOT NULL
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
SELECT
    s.model, s.variant, s.measure, s.metric, s.dataset, s.language, s.culture, s.topic, s.condition,
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
-- What was stopped has no number of the present data: why there is none.
SELECT model, task AS measure, dataset, sum(missing)::BIGINT || ' of ' || sum(wanted)::BIGINT || ' texts without an answer' AS lacking
FROM unanswered AS u
ANTI JOIN numbers AS n ON (n.measure, n.model, n.dataset) = (u.task, u.model, u.dataset)
GROUP BY ALL
HAVING sum(missing) > 0
