-- Mean attention (z) to options, by groups of targets and of options
-- attention_map: a row is the mean attention (z) to the options of a group in questions about targets of a group, in right
-- or in wrong answers: to those that were chosen, or to all (CultureScope, Figures 4 and 8). The interval is over units.
--   answers: 'right' or 'wrong'
--   options: 'chosen': the options that were chosen; 'all': all of them
--   target_group: the level or the region of the target, by the type of the question
--   option_group: the group of the culture whose answer the option is, where the set says it; else its role
--   n_options: how many they are
--   mean_z: mean z of these options
-- no rows: no attention stands beside a generated answer that names an option: ask the same questions by both, `polyculture ask SET --method generated --method attention`
-- printed: model, dataset, reader, prompt, type, answers, options, target_group, option_group, n_options, mean_z
SELECT
    model, dataset, language, reader, wording AS prompt, coalesce(facets['type'], '') AS type, condition AS answers,
    facets['options'] AS options, coalesce(facets['level'], facets['region'], '') AS target_group,
    facets['other'] AS option_group, n AS n_options, estimate AS mean_z, low, high, no_interval AS lacking
FROM numbers
WHERE measure = 'attention' AND metric = 'contribution'
ORDER BY
    dataset, model, reader, prompt, type DESC, answers, options,
    target_group, option_group
