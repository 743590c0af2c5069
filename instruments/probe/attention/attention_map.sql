-- Mean attention (z) to options, by target and group
-- attention_map: a row is the mean attention (z) to the options of a group in questions about a target, in right or in
-- wrong answers: to those that were chosen, or to all.
-- printed: model, dataset, method, reader, prompt, type, measure, answers, options, target, target_group, option_group,
-- n_options, mean_z, mean_place_z
SELECT
    model, dataset, language, method, reader, prompt, type, measure, answers, options, target, target_group, option_group,
    n_options, mean_z, mean_place_z
FROM attention_map
ORDER BY
    dataset, model, method, array_position(['ours', 'sum', 'mean', 'corrected'], reader), prompt, type DESC, measure DESC,
    answers, options, target, option_group
