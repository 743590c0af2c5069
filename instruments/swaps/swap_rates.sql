-- Answers about texts with swapped entities
-- swap_rates: a row is a metric of a type of entities; each side, their difference with its 95 % interval, or the reason
-- why it has no interval.
--   $unreadable = wrong|left-out: what an answer that cannot be read counts as: wrong, or left-out
--   $pooled = false: settings that were added up, instead of each
--   $task = NULL: sentiment, qa or ner; NULL: all
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities; the setting, where there are several
--   rate: the metric's name as it is printed
--   native: the metric of texts with native entities
--   western: the metric of texts with Western entities
--   difference: native less Western
--   unread: answers that could not be read, native + Western
-- printed: model, place, rate, native, western, difference, unread
WITH shown AS (
    SELECT *, coalesce(asked, 0) - coalesce(readable, 0) AS unread FROM swap_intervals
    WHERE ($model IS NULL OR model = $model) AND ($task IS NULL OR task = $task)
        AND (task = 'sentiment' OR starts_with(metric, 'readable_') = ($unreadable = 'left-out'))
        AND coalesce(pooled, false) = $pooled
)
SELECT
    CASE WHEN $model IS NULL THEN model END AS model,
    concat_ws(
        ', ', coalesce(nullif(concat_ws(' ', language, culture), ''), 'all cultures'), coalesce(entity_type, 'all types'),
        CASE WHEN (SELECT count(DISTINCT (dataset, setting)) > 1 FROM shown AS s WHERE s.task = shown.task)
            THEN concat_ws(' ', CASE WHEN (SELECT count(DISTINCT dataset) > 1 FROM shown) THEN dataset END, setting) END
    ) AS place,
    replace(replace(metric, '_rate', ''), '_', ' ') AS rate,
    max(estimate) FILTER (side = 'native') AS native,
    max(estimate) FILTER (side = 'western') AS western,
    max(estimate) FILTER (side = 'difference') AS difference,
    max(low) FILTER (side = 'difference') AS difference_low,
    max(high) FILTER (side = 'difference') AS difference_high,
    coalesce(
        max(
            CASE
                WHEN low IS NOT NULL THEN NULL
                WHEN estimate IS NULL THEN 'no answer counts'
                WHEN shown.metric = 'macro_f1' THEN 'none for macro F1'
                WHEN shown.contexts < 2 THEN 'few contexts'
                WHEN least(native_entities, western_entities) < 2 THEN 'few entities'
                ELSE 'nothing varies' -- as where all answers are wrong: there is no test of that either
            END
        ) FILTER (side = 'difference'),
        CASE WHEN count(*) FILTER (side = 'difference') = 0 THEN 'one side was asked' END
    ) AS lacking,
    CASE WHEN sum(unread) FILTER (side <> 'difference') > 0
        THEN concat_ws('+', max(unread) FILTER (side = 'native'), max(unread) FILTER (side = 'western')) END AS unread
FROM shown
GROUP BY task, answer_method, model, dataset, language, culture, entity_type, setting, metric
ORDER BY task DESC, shown.model, dataset, language NULLS LAST, culture NULLS LAST, entity_type NULLS LAST, setting, metric
