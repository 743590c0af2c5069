-- A row is a count or a share of linked labels (MAKIEval), keyed as the cells of `published`.
--   told: what was counted otherwise than the paper counts
SELECT
    coalesce(model, 'all ' || models || ' models') AS model, 'linking' AS measure, metric, level, '-' AS dataset,
    coalesce(language, '*') AS language, '-' AS culture, coalesce(topic, '*') AS topic, '-' AS condition, MAP {} AS facets,
    estimate, 'a count' AS no_interval, labels AS n, 'label' AS unit, '' AS lacking,
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
