-- Cultural Bias Score
-- cbs: a row is a mean score of a model over the contexts of a type of entities, or over types; or a difference of two such. A
-- mean over one alone is that one, and has no row.
--   $rule = sum|mean|probability: the likelihood of an entity: sum (log-probability of the whole), mean (per token),
--     probability (mean of the tokens')
--   $model = NULL: the model; NULL: all
--   place: language, culture and type of the entities
--   setting: of the contexts, with their phrasing and what precedes them; of a difference, less the second side
--   incomplete: what was asked of these entities and has no score: run the command again
--   tied: pairs of equal likelihood, over all contexts
-- printed: model, place, setting, estimate, contexts, tied, incomplete
-- no rows: no entity has a likelihood under this rule: see the reasons of failures
SELECT
    CASE WHEN $model IS NULL THEN model END AS model,
    concat_ws(
        ' ', CASE WHEN sets > 1 THEN concat_ws(' ', dataset, form) END, coalesce(nullif(concat_ws(' ', language, culture), ''), 'all cultures') || ',',
        coalesce(entity_type, 'all types')
    ) AS place,
    way AS setting, estimate, low, high, lacking, contexts, tied, incomplete
FROM (
    SELECT *, (SELECT count(DISTINCT (dataset, form)) FROM cbs_scores WHERE rule = $rule) AS sets
    FROM cbs_scores
    WHERE rule = $rule AND ($model IS NULL OR model = $model)
) AS scores
ORDER BY
    scores.model, dataset, form, language NULLS LAST, culture NULLS LAST, entity_type NULLS LAST, metric, scores.setting, phrasing NULLS FIRST,
    context_prefix NULLS FIRST
