-- Models on the leaderboards, by their numbers of question sets.

-- question_board_entries: a row is a model's number of all questions of a set, on a board.
CREATE VIEW question_board_entries AS
SELECT
    'questions' AS task, metric,
    CASE
        WHEN metric IN ('diff_bias_a', 'diff_bias_d', 's_amb', 's_dis') THEN 'zero'
        WHEN metric = 'first_preferred' THEN 'more' ELSE 'high'
    END AS goal,
    dataset, nullif(language, '-') AS language, NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type,
    concat_ws(', ', 'all questions', facets['type']) AS setting, concat_ws(', ', method, reader) AS variant, method AS way,
    model, estimate, low, high, units AS contexts, NULL::BIGINT AS native_entities, NULL::BIGINT AS western_entities,
    NULL::BIGINT AS native_fewest, NULL::BIGINT AS western_fewest
FROM numbers
WHERE measure = 'questions' AND wording = '*' AND topic = '*' AND country = '*' AND condition = '-'
    AND facets['averaging'] = 'pooled' AND len(map_keys(facets)) = 1 + (facets['type'] IS NOT NULL)::INTEGER
    AND metric IN (
        'accuracy', 'acc_a', 'acc_d', 'diff_bias_a', 'diff_bias_d', 's_amb', 's_dis', 'first_preferred', 'ranked_first',
        'exact_match', 'soft_match', 'weighted_match'
    );

-- question_board_orders: a row is two models on a board, of which a paired difference tells that one is higher. Biases are
-- compared by their size, by the board itself.
CREATE VIEW question_board_orders AS
SELECT
    e.task, e.metric, e.dataset, e.language, e.culture, e.entity_type, e.setting, e.variant,
    CASE d.verdict WHEN 'higher' THEN d.a ELSE d.b END AS better, CASE d.verdict WHEN 'higher' THEN d.b ELSE d.a END AS worse
FROM differences AS d
INNER JOIN question_board_entries AS e
    ON e.model = d.a AND e.metric = d.metric AND e.dataset = d.dataset AND e.language = d.language
    AND e.variant = concat_ws(', ', d.method, d.reader) AND e.setting = concat_ws(', ', 'all questions', d.facets['type'])
WHERE d.measure = 'questions' AND d.dimension = 'model' AND d.target = 'others' AND d.verdict IN ('higher', 'lower')
    AND e.goal <> 'zero' AND d.facets['level'] IS NULL;

-- question_board_failures: a row is a model of which no answer came to the questions of a set.
CREATE VIEW question_board_failures AS
SELECT
    'questions' AS task, a.method AS way, a.model, q.set AS dataset, 'all questions' AS setting, q.language,
    NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type, count(*) AS failed, mode(a.error) AS reason
FROM answers AS a
INNER JOIN questions AS q USING (question_id)
GROUP BY a.method, a.model, q.set, q.language
HAVING count(*) FILTER (a.status = 'ok') = 0;
