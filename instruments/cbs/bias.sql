-- Cultural Bias Scores, and differences of two settings, phrasings or context prefixes
-- bias: a row is a mean Cultural Bias Score under a rule, or a difference of two settings. Failed scores and broken
-- token boundaries are counted over all settings of a row's entities. NULL in language, culture or entity_type: over
-- all of them, where there are several.
-- printed: metric, rule, model, dataset, language, culture, entity_type, setting, other_setting, phrasing,
-- other_phrasing, context_prefix, estimate, p, contexts, native_entities, western_entities, tied, western_won, pairs, incomplete
WITH became AS (
    SELECT
        model, dataset, form, language, culture, entity_type,
        sum(scored)::BIGINT AS scored, sum(failed)::BIGINT AS failed, sum(broken_boundaries)::BIGINT AS broken_boundaries
    FROM score_health
    GROUP BY GROUPING SETS (
        (model, dataset, form, language, culture, entity_type),
        (model, dataset, form, language, culture),
        (model, dataset, form)
    )
)
SELECT b.* EXCLUDE (types, places), h.scored, h.failed, h.broken_boundaries
FROM cbs_scores AS b
LEFT JOIN became AS h
    ON b.model = h.model AND b.dataset = h.dataset AND b.form = h.form
    AND b.language IS NOT DISTINCT FROM h.language
    AND b.culture IS NOT DISTINCT FROM h.culture
    AND b.entity_type IS NOT DISTINCT FROM h.entity_type
ORDER BY
    list_position(['sum', 'mean', 'probability'], b.rule), b.model, b.dataset, b.form, b.language NULLS FIRST, b.culture NULLS FIRST, b.entity_type NULLS FIRST,
    b.metric, b.setting, b.phrasing NULLS FIRST, b.context_prefix NULLS FIRST, b.other_setting NULLS FIRST,
    b.other_phrasing NULLS FIRST, b.plain
