-- The table that `polyculture cbs --matched` prints: a row is a score over pairs that are alike.
SELECT
    model, dataset, form, language, culture, coalesce(entity_type || coalesce(', ' || gender, ''), 'all types') AS type,
    concat_ws(', ', setting, phrasing) AS setting,
    estimate AS matched,
    CASE WHEN low IS NULL THEN '(' || lacking || ')' ELSE format('{:.3f} to {:.3f}', low, high) END AS "95 %",
    unmatched AS "all pairs",
    caliper_nats AS "caliper, nats",
    CASE WHEN contexts_without > 0 THEN format('{} of {}', contexts, contexts + contexts_without)
        ELSE contexts::VARCHAR END AS contexts,
    native_entities AS native, western_entities AS western,
    format('{} of {} ({:.1f} %)', pairs, all_pairs, 100 * pairs / all_pairs) AS "pairs that stay",
    format('{}:{}:{}', western_won, pairs - western_won - tied, tied) AS "W:N:ties"
FROM matched_bias
WHERE rule = $rule AND ties_count = $ties AND matched = $matched AND caliper IS NOT DISTINCT FROM $caliper AND setting <> 'empty'
ORDER BY
    model, dataset, matched_bias.form, language, culture, entity_type NULLS LAST, gender NULLS FIRST,
    matched_bias.setting, phrasing NULLS FIRST
