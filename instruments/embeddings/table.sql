-- The table that `polyculture embeddings` prints: a row is a type of entities at a layer, or the mean over types.
SELECT
    model, dataset, language, culture,
    concat_ws(
        ', ', coalesce(entity_type, 'mean of ' || types || ' types'), gender, nullif(separations.form, 'causal'),
        nullif(separations.setting, 'neutral')
    ) AS type,
    layer || CASE WHEN layer_name IS NULL THEN '' ELSE ' (' || layer_name || ')' END AS layer,
    -- In brackets where not every entity fits all of them.
    CASE WHEN entity_type IS NOT NULL AND contexts_fewest < contexts
        THEN format('{} ({} to {})', contexts, contexts_fewest, contexts_most)
        ELSE contexts::VARCHAR END AS contexts,
    native_entities || ' + ' || western_entities || CASE WHEN failed > 0 THEN ', failed ' || failed ELSE '' END
        AS "native + Western",
    estimate AS "Davies-Bouldin", corrected,
    CASE WHEN corrected_low IS NOT NULL THEN format('{:.2f} to {:.2f}', corrected_low, corrected_high)
        ELSE '(' || lacking || ')' END AS "95 %",
    by_chance AS "by chance", CASE WHEN p < 0.0015 THEN '0.001' ELSE format('{:.3f}', p) END AS p
FROM separations
ORDER BY
    model, dataset, language, culture, separations.form, separations.setting, entity_type NULLS LAST, gender,
    separations.contexts, separations.layer
