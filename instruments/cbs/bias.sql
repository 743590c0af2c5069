-- Cultural Bias Scores, and differences of two settings, phrasings or context prefixes
-- bias: a row is a mean Cultural Bias Score under a rule, or a difference of two settings. Failed scores and broken
-- token boundaries are counted over all settings of a row's entities. NULL in language, culture or entity_type: over
-- all of them.
-- printed: metric, rule, model, dataset, language, culture, entity_type, setting, other_setting, phrasing,
-- other_phrasing, context_prefix, estimate, p, contexts, native_entities, western_entities, ties_count, tied,
-- western_won, pairs
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
),
draws AS (
    SELECT
        model, dataset, language, country, topic, condition, method, facets, any_value(sizes) AS sizes,
        any_value(estimate) FILTER (metric = 'cbs_of_draws') AS sampled_mean,
        any_value(estimate) FILTER (metric = 'cbs_of_draws_deviation') AS sampled_deviation
    FROM numbers
    WHERE measure = 'cbs' AND metric <> 'cbs'
    GROUP BY ALL
),
scores_and_differences AS (
    SELECT
        n.metric, n.method AS rule, n.model, n.dataset, nullif(n.language, '*') AS language,
        nullif(n.country, '*') AS culture, nullif(n.topic, '*') AS entity_type, n.condition AS setting,
        NULL AS other_setting, n.facets['phrasing'] AS phrasing, NULL AS other_phrasing,
        n.facets['context_prefix'] AS context_prefix, false AS plain, n.facets['form'] AS form,
        n.estimate, n.low, n.high, NULL::DOUBLE AS p, n.units AS contexts,
        n.sizes['native_entities'] AS native_entities, n.sizes['western_entities'] AS western_entities,
        n.sizes['native_fewest'] AS native_fewest, n.sizes['native_most'] AS native_most,
        n.sizes['western_fewest'] AS western_fewest, n.sizes['western_most'] AS western_most,
        n.n AS pairs, n.sizes['tied'] / n.n AS ties, d.sampled_mean, d.sampled_deviation,
        d.sizes['draws'] AS draws, d.sizes['drawn'] AS drawn, n.no_interval AS lacking,
        'strict' AS ties_count, n.sizes['tied'] AS tied, n.sizes['western_won'] AS western_won, n.sizes['columns'] AS columns
    FROM numbers AS n
    LEFT JOIN draws AS d USING (model, dataset, language, country, topic, condition, method, facets)
    WHERE n.measure = 'cbs' AND n.metric = 'cbs'
    UNION ALL BY NAME
    SELECT
        'cbs_difference' AS metric, method AS rule, model, dataset, nullif(language, '*') AS language,
        nullif(country, '*') AS culture, nullif(topic, '*') AS entity_type,
        CASE dimension WHEN 'condition' THEN a ELSE condition END AS setting,
        CASE dimension WHEN 'condition' THEN b END AS other_setting,
        CASE dimension WHEN 'phrasing' THEN a ELSE facets['phrasing'] END AS phrasing,
        CASE dimension WHEN 'phrasing' THEN b END AS other_phrasing,
        CASE dimension WHEN 'context_prefix' THEN a ELSE facets['context_prefix'] END AS context_prefix,
        dimension = 'context_prefix' AS plain, facets['form'] AS form, difference AS estimate, low, high, p,
        units AS contexts, reason AS lacking, 'strict' AS ties_count
    FROM differences
    WHERE measure = 'cbs' AND target = 'others' AND dimension IN ('condition', 'phrasing', 'context_prefix')
)
SELECT b.*, h.scored, h.failed, h.broken_boundaries
FROM scores_and_differences AS b
LEFT JOIN became AS h
    ON b.model = h.model AND b.dataset = h.dataset AND b.form = h.form
    AND b.language IS NOT DISTINCT FROM h.language
    AND b.culture IS NOT DISTINCT FROM h.culture
    AND b.entity_type IS NOT DISTINCT FROM h.entity_type
ORDER BY
    list_position(['sum', 'mean', 'probability', 'calibrated'], b.rule), b.model, b.dataset, b.form, b.language NULLS FIRST, b.culture NULLS FIRST, b.entity_type NULLS FIRST,
    b.metric, b.setting, b.phrasing NULLS FIRST, b.context_prefix NULLS FIRST, b.other_setting NULLS FIRST,
    b.other_phrasing NULLS FIRST, b.plain
