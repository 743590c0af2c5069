-- A row is a Davies-Bouldin index (CAMeL), keyed as the cells of `published`.
--   variant: 'causal' of contexts that end at their gap
WITH unrepresented AS ( -- A killed command leaves the comparisons of an earlier one.
    SELECT
        w.model, w.dataset, w.language, w.culture, w.form, w.setting, count(*) FILTER (s.comparison IS NULL) AS missing,
        count(*) AS wanted
    FROM (
        SELECT DISTINCT model, dataset, language, culture, form, setting, entity_type, comparison FROM wanted_representations
    ) AS w
    LEFT JOIN (SELECT DISTINCT model, entity_type, comparison FROM separations) AS s USING (model, entity_type, comparison)
    GROUP BY ALL
)
SELECT
    model, CASE WHEN form = 'causal' THEN form ELSE '' END AS variant, 'embeddings' AS measure, 'davies_bouldin' AS metric,
    dataset, language, culture, coalesce(entity_type, '*') AS topic, coalesce(setting, 'neutral') AS condition,
    CASE WHEN gender IS NULL THEN MAP {} ELSE MAP {'gender': gender} END AS facets, estimate,
    'the index of these entities' AS no_interval, contexts AS n, 'context' AS unit,
    concat_ws(', ', CASE WHEN failed > 0 THEN failed || ' entities without a vector' END,
        CASE WHEN missing > 0 AND entity_type IS NULL THEN missing || ' of ' || wanted || ' sets of entities not measured' END
    ) AS lacking
FROM separations
LEFT JOIN unrepresented USING (model, dataset, language, culture, form, setting)
WHERE estimate IS NOT NULL
-- At the last layer that was asked for; of several sets of contexts the largest.
QUALIFY layer = max(layer) OVER (PARTITION BY model, dataset, language, culture, form, setting)
    AND row_number() OVER (
        PARTITION BY model, dataset, language, culture, form, setting, entity_type, gender, layer
        ORDER BY contexts DESC, native_entities + western_entities DESC, comparison
    ) = 1
