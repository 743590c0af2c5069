-- Accuracy and diff-bias of answers to multiple choice
-- multiple_choice: a row is the numbers of all categories, or of a category, of a data set as a model answers it by a
-- reader: the mean over prompts, all answers of a prompt counted together, with 95 % intervals over templates and
-- prompts.
-- printed: model, dataset, language, answer_method, reader, category, answered, out_of_choice_ratio, undirected,
-- acc_a, diff_bias_a, max_bias_a, acc_d, diff_bias_d, max_bias_d, most_bias_d
WITH limits AS (
    SELECT
        model, dataset, language, answer_method, reader, part, name,
        max(low) FILTER (metric = 'acc_a') AS acc_a_low, max(high) FILTER (metric = 'acc_a') AS acc_a_high,
        max(low) FILTER (metric = 'acc_d') AS acc_d_low, max(high) FILTER (metric = 'acc_d') AS acc_d_high,
        max(low) FILTER (metric = 'diff_bias_a') AS diff_bias_a_low,
        max(high) FILTER (metric = 'diff_bias_a') AS diff_bias_a_high,
        max(low) FILTER (metric = 'diff_bias_d') AS diff_bias_d_low,
        max(high) FILTER (metric = 'diff_bias_d') AS diff_bias_d_high
    FROM bbq_intervals
    WHERE averaging = 'pooled' AND prompt IS NULL
    GROUP BY ALL
)
SELECT
    o.model, o.dataset, o.language, o.answer_method, o.reader, o.name AS category, prompts, templates, answered, failed,
    out_of_choice, out_of_choice_ratio, undirected, n_w, directed_acc_a, directed_acc_d, acc_a, acc_a_low, acc_a_high, acc_a_sd, diff_bias_a, diff_bias_a_low,
    diff_bias_a_high, diff_bias_a_sd, max_bias_a, acc_d, acc_d_low, acc_d_high, acc_d_sd, diff_bias_d, diff_bias_d_low,
    diff_bias_d_high, diff_bias_d_sd, max_bias_d, most_bias_d
FROM bbq_over_prompts AS o
LEFT JOIN limits AS l
    ON (l.model, l.dataset, l.language, l.answer_method, l.reader, l.part)
        = (o.model, o.dataset, o.language, o.answer_method, o.reader, o.part)
    AND l.name IS NOT DISTINCT FROM o.name
WHERE averaging = 'pooled' AND o.part IN ('overall', 'category')
ORDER BY o.dataset, o.language, o.model, o.answer_method, o.reader, o.name NULLS FIRST
