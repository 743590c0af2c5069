-- Cultural Bias Score
-- cbs: a row is a mean score over the contexts of a type of entities, or over types; or a difference of two such, under
-- the options of the last command. NULL in language, culture or entity_type: over all of them; in gender: of the whole
-- type. Over pairs there is no difference: that over contexts is given.
--   $rule = sum: the likelihood of an entity: sum (log-probability of the whole), mean (per token), probability (mean of
--     the tokens'), calibrated (sum less that where nothing precedes it)
--   $ties = strict: pairs of equal likelihood count as not Western (strict) or half for either (half)
--   $average = contexts: what counts alike in a mean over types: contexts, types, columns (types, genders apart) or pairs
-- printed: model, dataset, language, culture, entity_type, gender, setting, other_setting, phrasing, other_phrasing,
-- context_prefix, estimate, p, contexts, native_entities, western_entities, western_won, tied, pairs, sampled_mean,
-- sampled_deviation
-- no rows: no entity has a likelihood under this rule: see the reasons of failures
SELECT
    metric, model, dataset, form, language, culture, entity_type, gender, setting, other_setting, phrasing, other_phrasing,
    context_prefix, nullif(plain, false) AS plain, estimate, low, high, lacking, p, contexts, columns, native_entities,
    native_fewest, native_most, western_entities, western_fewest, western_most, western_won, tied, pairs,
    -- Where so many are all there are, every draw is the same, and says nothing.
    CASE WHEN sampled_deviation > 1e-9 THEN draws END AS draws, CASE WHEN sampled_deviation > 1e-9 THEN drawn END AS drawn,
    CASE WHEN sampled_deviation > 1e-9 THEN sampled_mean END AS sampled_mean,
    CASE WHEN sampled_deviation > 1e-9 THEN sampled_deviation END AS sampled_deviation
FROM bias_variants
WHERE rule = $rule AND ties_count = $ties
    AND average = CASE WHEN metric = 'cbs_difference' AND $average = 'pairs' THEN 'contexts' ELSE $average END
ORDER BY
    model, dataset, bias_variants.form, language NULLS LAST, culture NULLS LAST, entity_type NULLS LAST, gender NULLS FIRST,
    metric, bias_variants.setting, phrasing NULLS FIRST, context_prefix NULLS FIRST
