-- Answers about texts with swapped entities
-- swap_rates: a row is a metric of a type of entities; each side, their difference with its 95 % interval and p-value, or
-- the reason why it has no interval.
--   $unreadable = wrong: what an answer that cannot be read counts as: wrong, or left-out
--   $pooled = false: settings that were added up, instead of each
--   native: the metric of texts with native entities
--   western: the metric of texts with Western entities
--   difference: native less Western
--   deviation: standard deviation of the difference over draws
--   texts: what became of the texts, the native ones first: asked/answered/readable/right
-- printed: model, dataset, language, culture, entity_type, setting, wording, metric, native, western, difference, p,
-- deviation, contexts, texts
SELECT
    task, model, answer_method, dataset, language, culture, entity_type, setting, max(wording) AS wording, metric,
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
                WHEN swap_intervals.metric = 'macro_f1' THEN 'none for macro F1'
                WHEN swap_intervals.contexts < 2 THEN 'few contexts'
                WHEN least(native_entities, western_entities) < 2 THEN 'few entities'
                ELSE 'nothing varies' -- as where all answers are wrong: there is no test of that either
            END
        ) FILTER (side = 'difference'),
        CASE WHEN count(*) FILTER (side = 'difference') = 0 THEN 'one side was asked' END
    ) AS lacking,
    max(p) AS p,
    max(deviation) FILTER (side = 'difference') AS deviation,
    max(contexts) AS contexts,
    concat_ws(
        ' ',
        max(concat_ws('/', asked, answered, readable, "right")) FILTER (side = 'native'),
        max(concat_ws('/', asked, answered, readable, "right")) FILTER (side = 'western')
    ) AS texts
FROM swap_intervals
WHERE (task = 'sentiment' OR starts_with(metric, 'readable_') = ($unreadable = 'left-out'))
    AND coalesce(pooled, false) = $pooled
GROUP BY task, answer_method, model, dataset, language, culture, entity_type, setting, metric
ORDER BY
    task DESC, model, dataset, language NULLS LAST, culture NULLS LAST, entity_type NULLS LAST, setting, metric
