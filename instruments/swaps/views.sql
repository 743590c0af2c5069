-- swap_rates: a row is a rate of the answers about swapped entities: both sides, and native less Western. NULL in
-- language, culture or entity_type: over all of them. Of sentiment: a false negative is a text that is labelled negative and is not, a false
-- positive one that is labelled positive and is not; missed_positive is the papers' false negative: a positive text with
-- another label.
--   metric: the rate: 'accuracy', 'macro_f1', 'false_negative_rate', 'precision', 'recall', 'f1', ...
--   reading: how answers are read where an entity is asked for: 'normalised', and what cannot be read is wrong; 'readable':
--     the same without what cannot be read; 'strict': by exact characters. NULL of sentiment
--   setting: the contexts' setting; of several, 'grounded + neutral', these together
--   native: the rate of texts with native entities
--   western: the rate of texts with Western entities
--   difference: native less Western
--   native_low: lower limit of the 95 % interval of the native rate
--   native_high: upper limit of the same
--   western_low: lower limit of the 95 % interval of the Western rate
--   western_high: upper limit of the same
--   difference_low: lower limit of the 95 % interval of native less Western
--   difference_high: upper limit of the same
--   no_interval: why the difference has no interval
--   native_answers: texts with native entities that the rate rests on
--   western_answers: the same of Western entities
--   native_entities: native entities in these texts
--   western_entities: the same of Western entities
--   native_asked: texts that were asked about with native entities
--   native_readable: answers that can be read, of texts with native entities
--   native_right: right answers, of texts with native entities
--   western_asked: texts that were asked about with Western entities
--   western_readable: answers that can be read, of texts with Western entities
--   western_right: right answers, of texts with Western entities
--   failed: texts of both sides without an answer that could be read
--   is_of_several: not over one type, or one language and culture, alone: such a rate is that one's
CREATE VIEW swap_rates AS
WITH sides AS (
    SELECT *, facets['side'] = 'native' AS is_native
    FROM numbers
    WHERE measure IN ('sentiment', 'qa', 'ner') AND (method <> 'prompt' OR model IN (SELECT model FROM run_models))
), rates AS (
    SELECT
        measure, method, model, dataset, language, country, topic, condition, facets['settings'] IS NOT NULL AS pooled, metric,
        facets['reading'] AS reading, coalesce(facets['reading'], '') AS read_as, wording, max(units) AS contexts, count(*) AS sides,
        max(estimate) FILTER (is_native) AS native_rate,
        max(low) FILTER (is_native) AS native_low,
        max(high) FILTER (is_native) AS native_high,
        max(n) FILTER (is_native) AS native_answers,
        coalesce(max(sizes['entities']) FILTER (is_native), 0) AS native_entities,
        max(sizes['asked']) FILTER (is_native) AS native_asked,
        max(sizes['readable']) FILTER (is_native) AS native_readable,
        max(sizes['right']) FILTER (is_native) AS native_right,
        max(estimate) FILTER (NOT is_native) AS western_rate,
        max(low) FILTER (NOT is_native) AS western_low,
        max(high) FILTER (NOT is_native) AS western_high,
        max(n) FILTER (NOT is_native) AS western_answers,
        coalesce(max(sizes['entities']) FILTER (NOT is_native), 0) AS western_entities,
        max(sizes['asked']) FILTER (NOT is_native) AS western_asked,
        max(sizes['readable']) FILTER (NOT is_native) AS western_readable,
        max(sizes['right']) FILTER (NOT is_native) AS western_right,
        sum(sizes['asked'] - sizes['readable'])::BIGINT AS failed
    FROM sides
    GROUP BY ALL
)
SELECT
    measure AS task, method AS answer_method, model, dataset, nullif(language, '*') AS language, nullif(country, '*') AS culture,
    nullif(topic, '*') AS entity_type, condition AS setting, pooled, nullif(rates.wording, '-') AS wording, metric,
    rates.reading,
    native_rate AS native, native_low, native_high, western_rate AS western, western_low, western_high,
    difference, d.low AS difference_low, d.high AS difference_high, p,
    CASE WHEN sides < 2 THEN 'one side was asked' WHEN difference IS NULL THEN 'no answer counts' ELSE reason END AS no_interval,
    contexts, native_answers, western_answers, native_entities, western_entities, native_asked, western_asked, native_readable,
    western_readable, native_right, western_right, failed,
    CASE
        WHEN topic <> '*' THEN true
        WHEN language <> '*' THEN count(DISTINCT topic) FILTER (topic <> '*') OVER of_culture > 1
        ELSE count(DISTINCT (language, country)) FILTER (language <> '*') OVER of_setting > 1
    END AS is_of_several
FROM rates
LEFT JOIN (
    SELECT *, coalesce(facets['reading'], '') AS read_as FROM differences WHERE dimension = 'native' AND target = 'new_prompts'
) AS d USING (measure, method, model, dataset, language, country, topic, condition, metric, read_as)
WINDOW
    of_culture AS (PARTITION BY measure, method, model, dataset, condition, pooled, metric, reading, language, country),
    of_setting AS (PARTITION BY measure, method, model, dataset, condition, pooled, metric, reading);

-- sentiment_counts: a row is a draw of entities of one side in the contexts of a type and setting: how its texts were
-- labelled. What could not be read is `unreadable`, and in no other count: it is neither a false negative nor a false positive.
--   unreadable: texts with an answer that could not be read: neither false negatives nor false positives
--   matched: texts that have the label of their context
--   draw: the number of the draw of entities, from 0
--   not_negative: texts whose context is positive or neutral
--   false_negatives: of those: labelled negative
--   not_positive: texts whose context is negative or neutral
--   false_positives: of those: labelled positive
--   positive: texts whose context is positive
--   missed_positives: of those: labelled otherwise, the papers' false negatives
CREATE VIEW sentiment_counts AS
SELECT
    answer_method, model, dataset, language, culture, entity_type, setting, native, draw,
    coalesce(sum(times) FILTER (status = 'ok'), 0)::BIGINT AS texts,
    coalesce(sum(times * matched) FILTER (status = 'ok'), 0)::BIGINT AS matched,
    coalesce(sum(times) FILTER (status = 'ok' AND gold <> 'negative'), 0)::BIGINT AS not_negative,
    coalesce(sum(times) FILTER (status = 'ok' AND gold <> 'negative' AND answer = 'negative'), 0)::BIGINT AS false_negatives,
    coalesce(sum(times) FILTER (status = 'ok' AND gold <> 'positive'), 0)::BIGINT AS not_positive,
    coalesce(sum(times) FILTER (status = 'ok' AND gold <> 'positive' AND answer = 'positive'), 0)::BIGINT AS false_positives,
    coalesce(sum(times) FILTER (status = 'failed' AND raw IS NOT NULL), 0)::BIGINT AS unreadable,
    sum(times)::BIGINT AS asked,
    coalesce(sum(times) FILTER (status = 'ok' AND gold = 'positive'), 0)::BIGINT AS positive,
    coalesce(sum(times) FILTER (status = 'ok' AND gold = 'positive' AND answer <> 'positive'), 0)::BIGINT AS missed_positives
FROM swap_answers
WHERE task = 'sentiment'
GROUP BY ALL;

-- sentiment_count_differences: a row is a number of wrong labels, the mean over draws (the papers' runs) of each side, of
-- native less Western (the papers' Asian - Western, Arab - Western), and of its size. `counted`: false_negatives (labelled
-- negative, is not), missed_positives (the papers' false negative: positive, labelled otherwise) and
-- false_positives. NULL in entity_type: over all types. `pooled`: over all settings. Of texts that cannot have the wrong
-- label, as of no positive one, there is no row; of a side without an answer that could be read, no count.
--   native: wrong labels of texts with native entities: the mean count of a draw
--   western: the same of Western entities
--   difference: the mean over draws of native less Western: Asian - Western, Arab - Western in the papers
--   counted: 'false_negatives' (labelled negative, is not), 'missed_positives' (positive, labelled otherwise),
--     or 'false_positives'
--   absolute_difference: the mean over draws of the difference without its sign
--   chance: what this is on average where there is no effect: above 0, and larger with more texts
--   native_texts: texts of native entities with an answer that could be read, the mean over draws
--   western_texts: the same of Western entities
CREATE VIEW sentiment_count_differences AS
WITH long AS (
    UNPIVOT sentiment_counts
    ON (false_negatives, not_negative) AS false_negatives, (missed_positives, positive) AS missed_positives,
        (false_positives, not_positive) AS false_positives
    INTO NAME counted VALUE wrong, possible
), several AS (
    SELECT answer_method, model, dataset, string_agg(DISTINCT setting, ' + ' ORDER BY setting) AS setting
    FROM sentiment_counts
    GROUP BY ALL
    HAVING count(DISTINCT setting) > 1
), each AS (
    SELECT
        answer_method, model, dataset, language, culture, entity_type, setting, false AS pooled, counted, draw, native, wrong,
        possible, texts
    FROM long
    UNION ALL
    SELECT
        answer_method, model, dataset, language, culture, entity_type, several.setting, true AS pooled, counted, draw, native,
        wrong, possible, texts
    FROM long JOIN several USING (answer_method, model, dataset)
), per_draw AS (
    SELECT
        answer_method, model, dataset, language, culture, entity_type, setting, pooled, counted, draw,
        sum(wrong) FILTER (native AND texts > 0)::BIGINT AS native,
        sum(wrong) FILTER (NOT native AND texts > 0)::BIGINT AS western,
        coalesce(sum(texts) FILTER (native), 0)::BIGINT AS native_texts,
        coalesce(sum(texts) FILTER (NOT native), 0)::BIGINT AS western_texts
    FROM each
    GROUP BY GROUPING SETS (
        (answer_method, model, dataset, language, culture, entity_type, setting, pooled, counted, draw),
        (answer_method, model, dataset, language, culture, setting, pooled, counted, draw)
    )
    HAVING sum(possible) > 0 OR sum(texts) = 0 -- of answers that nobody could read, the row says how many
), counts AS (
    SELECT
        answer_method, model, dataset, language, culture, entity_type, setting, pooled, counted, count(*) AS draws,
        avg(native) AS native, avg(western) AS western, avg(native - western) AS difference,
        avg(abs(native - western)) AS absolute_difference, avg(native_texts) AS native_texts,
        avg(western_texts) AS western_texts
    FROM per_draw
    GROUP BY ALL
)
SELECT c.*, d.chance
FROM counts AS c
LEFT JOIN differences AS d
    ON d.measure = 'sentiment' AND d.dimension = 'native' AND d.target = 'new_prompts' AND c.counted = d.metric
    AND c.answer_method = d.method AND c.model = d.model AND c.dataset = d.dataset AND c.language = d.language
    AND c.culture = d.country AND coalesce(c.entity_type, '*') = d.topic AND c.setting = d.condition;

-- swap_board_entries: a row is a model's rate on a board: of native entities, or the difference of both sides.
CREATE VIEW swap_board_entries AS
WITH boards AS (
    SELECT
        task, metric, CASE WHEN metric LIKE '%_rate' THEN 'low' ELSE 'high' END AS goal, dataset, language, culture, entity_type,
        setting, answer_method AS variant, answer_method AS way, model, native AS estimate, native_low AS low,
        native_high AS high, contexts, native_entities, western_entities, NULL::BIGINT AS native_fewest,
        NULL::BIGINT AS western_fewest, difference, difference_low, difference_high
    FROM swap_rates
    WHERE NOT pooled AND coalesce(reading, 'normalised') = 'normalised' AND NOT starts_with(metric, 'missed_')
)
SELECT * EXCLUDE (difference, difference_low, difference_high) FROM boards WHERE estimate IS NOT NULL
UNION ALL BY NAME
SELECT * EXCLUDE (difference, difference_low, difference_high) REPLACE (
    metric || '_difference' AS metric, 'zero' AS goal, difference AS estimate, difference_low AS low, difference_high AS high
)
FROM boards
WHERE difference IS NOT NULL;

-- swap_board_orders: a row is two models on a board, of which a paired difference tells that one is better on native
-- entities. Differences of the sides are compared by their size, by the board itself.
CREATE VIEW swap_board_orders AS
SELECT
    measure AS task, metric, dataset, nullif(language, '*') AS language, nullif(country, '*') AS culture,
    nullif(topic, '*') AS entity_type, condition AS setting, method AS variant,
    CASE WHEN (verdict = 'lower') = (metric LIKE '%_rate') THEN a ELSE b END AS better,
    CASE WHEN (verdict = 'lower') = (metric LIKE '%_rate') THEN b ELSE a END AS worse
FROM differences
WHERE measure IN ('sentiment', 'qa', 'ner') AND dimension = 'model' AND target = 'new_prompts' AND facets['side'] = 'native'
    AND verdict IN ('lower', 'higher');

-- swap_board_failures: a row is a model of which no answer could be used where those of others on the board were.
CREATE VIEW swap_board_failures AS
SELECT
    task, answer_method AS way, model, dataset, language, culture, entity_type, setting, count(*) AS failed,
    mode(error) AS reason
FROM swap_answers
GROUP BY GROUPING SETS (
    (task, answer_method, model, dataset, setting, language, culture, entity_type),
    (task, answer_method, model, dataset, setting, language, culture),
    (task, answer_method, model, dataset, setting)
)
HAVING count(*) FILTER (status = 'ok') = 0;
