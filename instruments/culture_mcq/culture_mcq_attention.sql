-- Mean attention (z) to options, by target and group
-- culture_mcq_attention: a row is the mean attention (z) to the options of a group in questions about a target, in
-- right or in wrong answers: to those that were chosen, or to all.
-- printed: model, dataset, answer_method, reader, prompt, question_type, measure, answers, options, target,
-- target_group, option_group, n_options, mean_z, mean_place_z
SELECT
    model, dataset, language, answer_method, reader, prompt, question_type, measure, answers, options, target, target_group,
    option_group, n_options, mean_z, mean_place_z
FROM culture_mcq_attention_map
ORDER BY
    dataset, model, answer_method, array_position(['words', 'sum', 'mean', 'corrected'], reader), prompt, question_type DESC,
    measure DESC, answers, options, target, option_group
