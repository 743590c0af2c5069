-- A row is a number of the entities that texts name (MAKIEval), keyed as the cells of `published`.
--   spread: standard deviation over wordings, where there are several
WITH off_language AS ( -- Not from `health`, which compares all texts with one another.
    SELECT model, coalesce(language, '*') AS language, sum(off_language)::BIGINT AS texts, sum(answered)::BIGINT AS of_texts
    FROM numbered_cells
    INNER JOIN cell_answers USING (cell)
    GROUP BY GROUPING SETS ((model), (model, language))
),
stated AS (
    SELECT
        numbers.model, measure, metric, level, numbers.dataset, numbers.language, country AS culture, topic, condition,
        map_from_entries(list_filter(map_entries(facets), lambda one: one.value <> '*')) AS facets,
        estimate, low, high, no_interval, n, 'linked item' AS unit,
        CASE WHEN missing > 0 THEN missing || ' of ' || (cells + missing) || ' numbers' END AS lacking,
        CASE WHEN o.texts > 0 THEN o.texts || ' of ' || of_texts || ' texts are not in their prompt''s language' END AS told,
        count(*) OVER of_place AS wordings,
        stddev_samp(estimate ORDER BY estimate) FILTER (wording <> '*') OVER of_place AS spread, wording
    FROM numbers
    LEFT JOIN off_language AS o USING (model, language)
    WHERE measure = 'entities' AND level <> 'cell'
    -- Without the level: that of a number of one prompt names the wording.
    WINDOW of_place AS (
        PARTITION BY
            numbers.model, metric, numbers.dataset, numbers.language, country, topic, condition, method, reader, facets
    )
)
SELECT * EXCLUDE (wordings, wording) FROM stated WHERE wording = '*' OR wordings = 1
