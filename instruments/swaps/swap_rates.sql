-- Answers about texts with swapped entities
-- swap_rates: a row is a metric of a type of entities; each side, their difference with its 95 % interval, or the reason
-- why it has no interval.
--   $unreadable = NULL|wrong|left-out: what an answer of qa or ner that cannot be read counts as; NULL: wrong
--   $pooled = false: settings that were added up, instead of each
--   $task = NULL: sentiment, qa or ner; NULL: all
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities; the setting, where there are several
--   rate: the metric with its reading, as it is printed; a strict one only where it is another number
--   native: the metric of texts with native entities
--   western: the metric of texts with Western entities
--   difference: native less Western
--   unread: answers that could not be read, native + Western
-- printed: model, place, rate, native, western, difference, unread
WITH shown AS (
    SELECT * FROM swap_rates
    WHERE ($model IS NULL OR model = $model) AND ($task IS NULL OR task = $task)
        AND (task = 'sentiment' OR (reading = 'readable') = (coalesce($unreadable, 'wrong') = 'left-out')) AND pooled = $pooled
        AND is_of_several
    WINDOW read_otherwise AS (
        PARTITION BY task, answer_method, model, dataset, language, culture, entity_type, setting, metric
    )
    QUALIFY reading IS DISTINCT FROM 'strict' OR (native, western) IS DISTINCT FROM (
        any_value(native) FILTER (reading <> 'strict') OVER read_otherwise,
        any_value(western) FILTER (reading <> 'strict') OVER read_otherwise
    )
)
SELECT
    CASE WHEN $model IS NULL THEN model END AS model,
    concat_ws(
        ', ', coalesce(nullif(concat_ws(' ', language, culture), ''), 'all cultures'), coalesce(entity_type, 'all types'),
        CASE WHEN (SELECT count(DISTINCT (dataset, setting)) > 1 FROM shown AS s WHERE s.task = shown.task)
            THEN concat_ws(' ', CASE WHEN (SELECT count(DISTINCT dataset) > 1 FROM shown) THEN dataset END, setting) END
    ) AS place,
    concat_ws(' ', nullif(reading, 'normalised'), replace(replace(metric, '_rate', ''), '_', ' ')) AS rate,
    native, western, difference, difference_low, difference_high, no_interval AS lacking,
    CASE WHEN failed > 0 THEN concat_ws('+', native_asked - native_readable, western_asked - western_readable) END AS unread
FROM shown
ORDER BY task DESC, shown.model, dataset, language NULLS LAST, culture NULLS LAST, entity_type NULLS LAST, setting,
    reading NULLS FIRST, metric
