-- swap_intervals: a row is a share of the answers about one side's entities, or the difference of both sides, with its
-- 95 % interval, as it was computed after the last answers came. NULL in language, culture or entity_type: over all.
CREATE VIEW swap_intervals AS
SELECT * FROM stored_swap_intervals
WHERE answer_method <> 'prompt' OR model IN (SELECT model FROM run_models);

-- sentiment_association: a row is a rate of the sentiment labels of one side's texts, or the difference of both sides.
-- A false negative is a text that is labelled negative and is not, a false positive one that is labelled positive and is
-- not (shares of the texts that are not negative, not positive); positive_as_negative and negative_as_positive leave the
-- neutral texts and labels out. missed_positive is the papers' false negative: a positive text with another label;
-- missed_negative is a negative one with another label. 'macro_f1' is the mean of the F1 of the three labels.
--   metric: 'accuracy', 'macro_f1' (the mean of the three labels' F1), 'false_negative_rate', 'false_positive_rate',
--     'missed_positive_rate' (the papers' false negative), 'missed_negative_rate', 'positive_as_negative_rate' or
--     'negative_as_positive_rate'
--   answers: texts that the number rests on; of a difference, those of both sides
--   failed: texts without an answer that could be read
--   native_entities: native entities in the texts that were answered
--   western_entities: the same of Western entities
CREATE VIEW sentiment_association AS SELECT * FROM swap_intervals WHERE task = 'sentiment' AND pooled IS NULL;

-- sentiment_pooled: a row is the same over all settings of a data set together, as Camellia pools grounded and neutral
-- contexts; `setting` names them.
--   metric: as in `sentiment_association`
--   answers: texts that the number rests on; of a difference, those of both sides
--   failed: texts without an answer that could be read
--   native_entities: native entities in the texts that were answered
--   western_entities: the same of Western entities
CREATE VIEW sentiment_pooled AS SELECT * FROM swap_intervals WHERE task = 'sentiment' AND pooled;

-- qa_accuracy: a row is the share of texts of one side in which the model named exactly the entity that was put into
-- them, after normalisation, or the difference of both sides. An answer that cannot be read is a wrong one; without these
-- it is the metric 'readable_accuracy' of `swap_intervals`.
--   metric: 'accuracy': an answer that cannot be read is a wrong one
--   answers: texts that the number rests on; of a difference, those of both sides
--   failed: texts without an answer that could be read
--   native_entities: native entities in the texts that were answered
--   western_entities: the same of Western entities
CREATE VIEW qa_accuracy AS SELECT * FROM swap_intervals WHERE task = 'qa' AND NOT regexp_matches(metric, '^(readable|strict)_');

-- ner_scores: a row is precision, recall or F1 of the names found in the texts of one side, or the difference of both
-- sides. A name counts when its span is exactly the entity's; other names of the type in the text count as false.
-- An answer that cannot be read finds no name; without these the metrics of `swap_intervals` are 'readable_recall', ...
--   metric: 'precision', 'recall' or 'f1': an answer that cannot be read finds nothing
--   answers: texts that the number rests on; of a difference, those of both sides
--   failed: texts without an answer that could be read
--   native_entities: native entities in the texts that were answered
--   western_entities: the same of Western entities
CREATE VIEW ner_scores AS SELECT * FROM swap_intervals WHERE task = 'ner' AND NOT regexp_matches(metric, '^(readable|strict)_');

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
--   negative: texts whose context is negative
--   missed_negatives: of those: labelled otherwise
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
    coalesce(sum(times) FILTER (status = 'ok' AND gold = 'positive' AND answer <> 'positive'), 0)::BIGINT AS missed_positives,
    coalesce(sum(times) FILTER (status = 'ok' AND gold = 'negative'), 0)::BIGINT AS negative,
    coalesce(sum(times) FILTER (status = 'ok' AND gold = 'negative' AND answer <> 'negative'), 0)::BIGINT AS missed_negatives
FROM swap_answers
WHERE task = 'sentiment'
GROUP BY ALL;

-- sentiment_count_differences: a row is a number of wrong labels, the mean over draws (the papers' runs) of each side, of
-- native less Western (the papers' Asian - Western, Arab - Western), and of its size. `counted`: false_negatives (labelled
-- negative, is not), missed_positives (the papers' false negative: positive, labelled otherwise), false_positives, and
-- missed_negatives. NULL in entity_type: over all types. `pooled`: over all settings.
--   native: wrong labels of texts with native entities: the mean count of a draw
--   western: the same of Western entities
--   difference: the mean over draws of native less Western: Asian - Western, Arab - Western in the papers
--   counted: 'false_negatives' (labelled negative, is not), 'missed_positives' (positive, labelled otherwise),
--     'false_positives' or 'missed_negatives'
--   absolute_difference: the mean over draws of the difference without its sign
--   chance: what this is on average where there is no effect: above 0, and larger with more texts
--   native_texts: texts of native entities with an answer that could be read, the mean over draws
--   western_texts: the same of Western entities
CREATE VIEW sentiment_count_differences AS
WITH long AS (
    UNPIVOT sentiment_counts
    ON false_negatives, missed_positives, false_positives, missed_negatives
    INTO NAME counted VALUE wrong
), several AS (
    SELECT answer_method, model, dataset, string_agg(DISTINCT setting, ' + ' ORDER BY setting) AS setting
    FROM sentiment_counts
    GROUP BY ALL
    HAVING count(DISTINCT setting) > 1
), each AS (
    SELECT
        answer_method, model, dataset, language, culture, entity_type, setting, false AS pooled, counted, draw, native, wrong,
        texts, asked
    FROM long
    UNION ALL
    SELECT
        answer_method, model, dataset, language, culture, entity_type, several.setting, true AS pooled, counted, draw, native,
        wrong, texts, asked
    FROM long JOIN several USING (answer_method, model, dataset)
), per_draw AS (
    SELECT
        answer_method, model, dataset, language, culture, entity_type, setting, pooled, counted, draw,
        sum(wrong) FILTER (native)::BIGINT AS native,
        sum(wrong) FILTER (NOT native)::BIGINT AS western,
        coalesce(sum(texts) FILTER (native), 0)::BIGINT AS native_texts,
        coalesce(sum(texts) FILTER (NOT native), 0)::BIGINT AS western_texts
    FROM each
    GROUP BY GROUPING SETS (
        (answer_method, model, dataset, language, culture, entity_type, setting, pooled, counted, draw),
        (answer_method, model, dataset, language, culture, setting, pooled, counted, draw)
    )
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
    ON d.measure = 'sentiment' AND d.dimension = 'native' AND d.target = 'others' AND c.counted = d.metric
    AND c.answer_method = d.method AND c.model = d.model AND c.dataset = d.dataset AND c.language = d.language
    AND c.culture = d.country AND coalesce(c.entity_type, '*') = d.topic AND c.setting = d.condition;

-- qa_wordings: a row is what became of the answers to a wording of the question in a language, of all that the run has
-- asked, whatever settings count now: how many are right, by characters, and how many only give the question's word for the
-- type back. Each is as it was read last.
--   settings: JSON: the templates of the question and its language, schema, temperature, top_p, top_k, limit in
--     tokens
--   echoed: answers that are no entity, but words of the question for its type (in `swap_answers`: 1)
--   strict_right: of those: the entity, character by character
CREATE VIEW qa_wordings AS
WITH readings AS (
    SELECT r.answer_id, arg_max(r, (a.id IS NOT NULL, r.reader_id)) AS read
    FROM stored_swap_readings AS r
    LEFT JOIN run_asked AS a ON a.instrument = 'swaps' AND a.id = r.reader_id
    GROUP BY r.answer_id
)
SELECT
    w.model, e.dataset, s.language, q.wording, q.settings, e.culture = c.culture AS native,
    count(*) AS asked,
    count(*) FILTER (r.read.status = 'ok') AS readable,
    count(*) FILTER (r.read.status = 'ok' AND r.read.matched > 0) AS "right",
    sum(r.read.strict)::BIGINT AS strict_right,
    sum(r.read.echoed)::BIGINT AS echoed
FROM stored_wanted_swaps AS w
JOIN stored_swap_questions AS q ON q.asked_id = w.asked_id AND q.task = 'qa' AND q.answer_method = 'prompt'
JOIN stored_swap_responses AS s USING (request_id, context_id, entity_id, sample)
JOIN stored_dataset_contexts AS c USING (context_id)
JOIN stored_dataset_entities AS e USING (entity_id)
LEFT JOIN readings AS r ON r.answer_id = s.answer_id
WHERE s.status <> 'unusable' AND w.model IN (SELECT model FROM run_models)
GROUP BY ALL;

-- swap_board_entries: a row is a model's rate on a board: of native entities, or the difference of both sides.
CREATE VIEW swap_board_entries AS
SELECT
    task, metric || CASE side WHEN 'difference' THEN '_difference' ELSE '' END AS metric,
    CASE WHEN side = 'difference' THEN 'zero' WHEN metric LIKE '%_rate' THEN 'low' ELSE 'high' END AS goal,
    dataset, language, culture, entity_type, setting, answer_method AS variant, answer_method AS way, model, estimate, low, high,
    contexts, native_entities, western_entities,
    NULL::BIGINT AS native_fewest, NULL::BIGINT AS western_fewest
FROM swap_intervals
WHERE side <> 'western' AND estimate IS NOT NULL AND pooled IS NULL
    AND NOT regexp_matches(metric, '^(readable|strict|missed)_');

-- swap_board_orders: a row is two models on a board, of which a paired difference tells that one is better on native
-- entities. Differences of the sides are compared by their size, by the board itself.
CREATE VIEW swap_board_orders AS
SELECT
    measure AS task, metric, dataset, nullif(language, '*') AS language, nullif(country, '*') AS culture,
    nullif(topic, '*') AS entity_type, condition AS setting, method AS variant,
    CASE WHEN (verdict = 'lower') = (metric LIKE '%_rate') THEN a ELSE b END AS better,
    CASE WHEN (verdict = 'lower') = (metric LIKE '%_rate') THEN b ELSE a END AS worse
FROM differences
WHERE measure IN ('sentiment', 'qa', 'ner') AND dimension = 'model' AND target = 'others' AND facets['side'] = 'native'
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
