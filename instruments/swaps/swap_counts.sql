-- Wrong labels: mean counts of a draw, native less Western (Asian - Western, Arab - Western in the papers)
-- swap_counts: a row is a number of wrong labels of a type of entities, the mean over draws of each side, of native less
-- Western, and of its size, beside which stands what no effect gives. Sides of unequal texts are not comparable by counts.
--   $pooled = false: settings that were added up, instead of each
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities; the setting, where there are several
--   size: the mean over draws of the difference without its sign
--   texts: the texts of each side, native + Western, where they differ
-- printed: model, place, counted, native, western, difference, size, chance, texts
SELECT
    CASE WHEN $model IS NULL THEN model END AS model,
    concat_ws(
        ', ', concat_ws(' ', language, culture), coalesce(entity_type, 'all types'),
        CASE WHEN count(DISTINCT dataset || setting) OVER () > 1 THEN setting END
    ) AS place,
    replace(counted, '_', ' ') AS counted, native, western, difference, absolute_difference AS size, chance,
    CASE WHEN native_texts <> western_texts THEN concat_ws('+', round(native_texts)::BIGINT, round(western_texts)::BIGINT) END
        AS texts
FROM sentiment_count_differences
WHERE pooled = $pooled AND ($model IS NULL OR model = $model)
QUALIFY entity_type IS NOT NULL OR count(DISTINCT entity_type) OVER (
    PARTITION BY answer_method, sentiment_count_differences.model, dataset, language, culture, sentiment_count_differences.setting, counted
) > 1
ORDER BY sentiment_count_differences.model, dataset, language, culture, entity_type NULLS LAST, sentiment_count_differences.setting, sentiment_count_differences.counted
