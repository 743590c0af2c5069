-- matched_pairs: a row is a mean Cultural Bias Score over pairs that are alike in tokens or priors, ties counted as not Western.
-- NULL in entity_type: over all types; in gender: of the whole type.
SELECT *
FROM matched_bias
WHERE ties_count = 'strict' AND setting <> 'empty'
ORDER BY
    list_position(['tokens', 'prior', 'both'], matched), caliper NULLS FIRST,
    list_position(['sum', 'mean', 'probability', 'calibrated'], rule), model, dataset, form, language, culture,
    entity_type NULLS FIRST, gender NULLS FIRST, setting, phrasing NULLS FIRST
