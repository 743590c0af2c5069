-- Answers to multiple choice under each prompt
-- by_prompt: a row is the numbers of all categories, or of a category, of a data set as a model answers it by a
-- reader under one prompt, all answers counted together.
SELECT
    model, dataset, language, answer_method, reader, prompt, name AS category, templates, answered, out_of_choice,
    failed, acc_a, directed_acc_a, diff_bias_a, max_bias_a, acc_d, directed_acc_d, diff_bias_d, max_bias_d, most_bias_d
FROM bbq_metrics
WHERE averaging = 'pooled' AND part IN ('overall', 'category')
ORDER BY dataset, language, answer_method, reader, model, prompt, name NULLS FIRST
