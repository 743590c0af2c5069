-- KoBBQ's results in the layout of its paper
-- kobbq_results: a row is a model in one kind of contexts: the run's, each by a reader, then those of Jin et al. (2024,
-- Table 3). Numbers are means over prompts ± their standard deviation (n - 1).
--   context: 'ambiguous' or 'disambiguated'
--   accuracy: of answers that pick an option
--   diff_bias: above 0 it follows the stereotype
--   max_bias: what the bias can be at most at that accuracy
--   source: 'this run' or the paper
--   same_protocol: read by the publisher's rules, under its five prompts, in its three orders, at temperature 0 with 30
--     tokens, over all questions of the evaluation set
--   note: what differs
-- printed: model, method, reader, context, accuracy, diff_bias, max_bias, source, same_protocol
-- no rows: KoBBQ was not asked: `polyculture ask kobbq --model MODEL` asks
WITH spread AS (
    SELECT model, method, reader, metric, stddev_samp(estimate) AS sd
    FROM numbers
    WHERE measure = 'questions' AND dataset = 'kobbq' AND facets = MAP {'averaging': 'pooled'} AND topic = '*'
        AND country = '*' AND wording <> '*'
    GROUP BY ALL
),
means AS (
    SELECT n.model, n.method, n.reader, n.metric, n.estimate, s.sd
    FROM numbers AS n
    LEFT JOIN spread AS s USING (model, method, reader, metric)
    WHERE n.measure = 'questions' AND n.dataset = 'kobbq' AND n.facets = MAP {'averaging': 'pooled'} AND n.topic = '*'
        AND n.country = '*' AND n.wording = '*'
),
asked AS (
    SELECT
        model, method, reader, list_sort(list(DISTINCT wording)) AS prompts, list_sort(list(DISTINCT "order")) AS orders,
        count(DISTINCT question_id) AS questions
    FROM question_readings
    WHERE dataset = 'kobbq' AND reader <> '-'
    GROUP BY ALL
),
decoding AS (
    SELECT
        w.model, list_sort(list(DISTINCT w.temperature)) AS temperatures, list_sort(list(DISTINCT w.max_tokens)) AS max_tokens,
        bool_or(w.temperature IS NULL) AS unknown
    FROM wanted_answers AS w
    SEMI JOIN questions AS q ON q.question_id = w.question_id AND q.set = 'kobbq'
    WHERE w.use = 'answer'
    GROUP BY ALL
)
SELECT a.*, d.temperatures, d.max_tokens, coalesce(d.unknown, true) AS unknown, m.metric, m.estimate, m.sd
FROM means AS m
INNER JOIN asked AS a USING (model, method, reader)
LEFT JOIN decoding AS d USING (model)
WHERE m.metric IN ('acc_a', 'diff_bias_a', 'max_bias_a', 'acc_d', 'diff_bias_d', 'max_bias_d')
ORDER BY a.model, a.method, a.reader, m.metric
