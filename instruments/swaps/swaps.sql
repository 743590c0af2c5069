-- Rates of answers about texts with native and Western entities
-- swaps: a row is a rate of the answers about swapped entities: both sides and their difference. NULL in language,
-- culture or entity_type: over all of them. A setting of several, 'grounded + neutral', is over these together; of
-- types alone, such rows stand in sentiment_pooled. The other rates of sentiment stand in sentiment_association.
--   no_interval: why the difference has no interval
--   native_asked: texts that were asked about with native entities
--   native_readable: answers that can be read, of texts with native entities
--   native_right: right answers, of texts with native entities
--   western_asked: texts that were asked about with Western entities
--   western_readable: answers that can be read, of texts with Western entities
--   western_right: right answers, of texts with Western entities
-- printed: task, model, dataset, language, culture, entity_type, setting, metric, native, western, difference, p,
-- contexts
SELECT
    task, answer_method, model, dataset, language, culture, entity_type, setting, metric,
    max(estimate) FILTER (side = 'native') AS native,
    max(low) FILTER (side = 'native') AS native_low,
    max(high) FILTER (side = 'native') AS native_high,
    max(estimate) FILTER (side = 'western') AS western,
    max(low) FILTER (side = 'western') AS western_low,
    max(high) FILTER (side = 'western') AS western_high,
    max(estimate) FILTER (side = 'difference') AS difference,
    max(low) FILTER (side = 'difference') AS difference_low,
    max(high) FILTER (side = 'difference') AS difference_high,
    coalesce(
        max(
            CASE
                WHEN low IS NOT NULL THEN NULL
                WHEN estimate IS NULL THEN 'no answer counts'
                WHEN swap_intervals.metric = 'macro_f1' THEN 'none for macro F1'
                WHEN swap_intervals.contexts < 2 THEN 'few contexts'
                WHEN least(swap_intervals.native_entities, swap_intervals.western_entities) < 2 THEN 'few entities'
                ELSE 'nothing varies' -- as where all answers are wrong: there is no test of that either
            END
        ) FILTER (side = 'difference'),
        CASE WHEN count(*) FILTER (side = 'difference') = 0 THEN 'one side was asked' END
    ) AS no_interval,
    max(p) AS p,
    max(contexts) AS contexts,
    max(native_entities) AS native_entities,
    max(western_entities) AS western_entities,
    max(asked) FILTER (side = 'native') AS native_asked,
    max(asked) FILTER (side = 'western') AS western_asked,
    max(readable) FILTER (side = 'native') AS native_readable,
    max(readable) FILTER (side = 'western') AS western_readable,
    max("right") FILTER (side = 'native') AS native_right,
    max("right") FILTER (side = 'western') AS western_right,
    coalesce(sum(failed) FILTER (side <> 'difference'), max(failed))::BIGINT AS failed
FROM swap_intervals
WHERE metric NOT IN ('positive_as_negative_rate', 'negative_as_positive_rate', 'missed_negative_rate')
    AND NOT starts_with(metric, 'readable_') AND (pooled IS NULL OR (pooled AND entity_type IS NULL))
GROUP BY task, answer_method, model, dataset, language, culture, entity_type, setting, metric
ORDER BY
    task DESC, model, dataset, answer_method, language NULLS FIRST, culture NULLS FIRST, entity_type NULLS FIRST, setting,
    metric
