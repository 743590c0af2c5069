-- Cultural Bias Scores of pairs that are alike in tokens or priors
-- matched_pairs: a row is a mean Cultural Bias Score over pairs that are alike in tokens or priors. NULL in entity_type: over all types; in gender: of the whole type.
--   $ties = strict: pairs of equal likelihood count as not Western (strict) or half for either (half)
-- printed: matched, caliper, rule, model, dataset, language, culture, entity_type, gender, setting, phrasing, form,
-- estimate, unmatched, contexts, pairs, all_pairs
SELECT *
FROM matched_bias
WHERE ties_count = $ties AND setting <> 'empty'
ORDER BY
    list_position(['tokens', 'prior', 'both'], matched), caliper NULLS FIRST,
    list_position(['sum', 'mean', 'probability', 'calibrated'], rule), model, dataset, form, language, culture,
    entity_type NULLS FIRST, gender NULLS FIRST, setting, phrasing NULLS FIRST
