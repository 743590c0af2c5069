-- Models on the leaderboards, by their numbers of question sets.

-- question_answered: a row is what a model answered of a set by one method, under each condition and type of questions.
-- Questions that are made for each model are known by their pair.
--   type: of questions, as their set has it; NULL where it has none
--   questions: questions that an answer came to
--   of_set: questions that the set has
--   shared: questions that an answer of every model here came to
--   differs: less than 95 % of the questions of a model are shared: numbers do not compare the models
--   items: a hash of the questions where they differ so; NULL where some answers did not come, or none is lacking
CREATE VIEW question_answered AS
WITH known AS (
    SELECT
        dataset, language, coalesce(facets['condition'], '-') AS condition, coalesce(facets['type'], '') AS type,
        question_id, facets['model'] AS owner, CASE WHEN facets['model'] IS NULL THEN question_id ELSE pair END AS item
    FROM known_questions
),
answered AS (
    SELECT DISTINCT k.dataset, k.language, k.condition, k.type, a.method, a.model, k.item
    FROM read_answers AS a
    INNER JOIN known AS k ON k.question_id = a.question_id
    WHERE a.status = 'ok'
),
own AS (
    SELECT dataset, language, condition, type, method, model, count(*) AS questions, bit_xor(hash(item)) AS items
    FROM answered
    GROUP BY ALL
),
places AS (
    SELECT dataset, language, condition, type, method, count(*) AS models, max(questions) AS most
    FROM own
    GROUP BY ALL
),
by_item AS (
    SELECT dataset, language, condition, type, method, item, count(*) AS models FROM answered GROUP BY ALL
),
together AS (
    SELECT
        p.* EXCLUDE (models, most), count(*) FILTER (i.models = p.models) AS shared,
        count(*) FILTER (i.models = p.models) < 0.95 * p.most AS differs
    FROM places AS p
    INNER JOIN by_item AS i USING (dataset, language, condition, type, method)
    GROUP BY p.dataset, p.language, p.condition, p.type, p.method, p.models, p.most
),
sizes AS (
    SELECT k.dataset, k.language, k.condition, k.type, m.model, count(DISTINCT k.item) AS of_set
    FROM known AS k
    INNER JOIN (SELECT DISTINCT model FROM own) AS m ON coalesce(k.owner, m.model) = m.model
    GROUP BY ALL
)
SELECT
    dataset, language, condition, type, method, model, questions, of_set, shared, differs,
    CASE WHEN differs THEN hex(items) END AS items
FROM own
INNER JOIN together USING (dataset, language, condition, type, method)
INNER JOIN sizes USING (dataset, language, condition, type, model);

-- question_requests: a row is what a model is to answer: a question under a prompt, with its options in one order.
--   owner: the model that a question is made for; NULL where it is not made for one
--   order: as in `answers`; NULL where no answer was asked for yet
--   n: answers that are asked
--   came: answers that came
CREATE VIEW question_requests AS
WITH got AS (
    SELECT
        request_id, question_id, prompt, any_value(method) AS method, any_value("order") AS "order",
        count(*) FILTER (status = 'ok') AS came
    FROM answers
    GROUP BY ALL
),
methods AS (
    SELECT id, any_value(regexp_extract(what, '[^ ]+$')) AS method
    FROM run_asked
    WHERE instrument = 'questions' AND NOT reads AND NOT contains(what, ' imported ')
    GROUP BY id
)
SELECT
    q.set AS dataset, q.language, w.model, coalesce(g.method, m.method, 'generated') AS method, w.prompt, w.question_id, q.kind,
    q.facets['model'] AS owner, w.asked_id, w.n, g."order", coalesce(g.came, 0) AS came
FROM wanted_answers AS w
INNER JOIN questions AS q USING (question_id)
LEFT JOIN got AS g USING (request_id, question_id, prompt)
LEFT JOIN methods AS m ON m.id = w.asked_id
WHERE w.use <> 'attend';

-- score_directions: a row is a metric of imported scores of which the logs say what is good.
--   better: 'low' or 'high'
CREATE VIEW score_directions AS
SELECT what, settings ->> 'better' AS better
FROM run_asked
WHERE instrument = 'questions' AND reads AND better IS NOT NULL;

-- question_board_entries: a row is a model's number of all questions of a set, on a board. The metrics that are on one stand
-- with the better of two numbers: a high share, more of what has no limit, or a bias near 0. What is good in the metric of
-- another harness is what its logs say.
--   items: a hash of the questions, where models answered different ones
--   doubt: what the number says less than others for: answers that pick no option, refusals and ties among them; questions
--     that others were not asked
CREATE VIEW question_board_entries AS
SELECT
    'questions' AS task, metric, goal,
    dataset, nullif(language, '-') AS language, NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type,
    concat_ws(', ', 'all questions', facets['type']) AS setting, concat_ws(', ', method, reader) AS variant, method AS way,
    model, estimate, low, high, units AS contexts, NULL::BIGINT AS native_entities, NULL::BIGINT AS western_entities,
    NULL::BIGINT AS native_fewest, NULL::BIGINT AS western_fewest, items,
    nullif(concat_ws(
        '; ', no_estimate,
        CASE WHEN lost >= 0.05 * sizes['answered'] THEN concat(round(100 * lost / sizes['answered'])::INTEGER, ' % pick no option') END,
        CASE WHEN differs THEN concat(questions, ' questions, ', shared, ' of them of all models') END
    ), '') AS doubt
FROM (
    SELECT
        n.*, sizes['refusal'] + sizes['tie'] + sizes['unread'] AS lost,
        CASE WHEN method = 'scored' THEN coalesce(better, 'more') ELSE g.goal END AS goal
    FROM numbers AS n
    LEFT JOIN score_directions ON method = 'scored' AND what = concat_ws(' ', dataset, metric)
    LEFT JOIN (VALUES
        ('accuracy', 'high'), ('acc_a', 'high'), ('acc_d', 'high'), ('ranked_first', 'high'), ('exact_match', 'high'),
        ('soft_match', 'high'), ('weighted_match', 'high'), ('diff_bias_a', 'zero'), ('diff_bias_d', 'zero'), ('s_amb', 'zero'),
        ('s_dis', 'zero'), ('first_preferred', 'more')
    ) AS g(metric, goal) USING (metric)
)
LEFT JOIN question_answered AS a USING (dataset, language, condition, method, model)
WHERE goal IS NOT NULL AND coalesce(a.type, '') = coalesce(facets['type'], '') AND measure = 'questions' AND wording = '*' AND topic = '*' AND country = '*' AND condition = '-'
    AND len(map_keys(facets)) = (facets['type'] IS NOT NULL)::INTEGER;

-- question_board_orders: a row is two models on a board, of which a paired difference tells that one is better: the higher
-- one, unless lower is better. Biases are compared by their size, by the board itself.
CREATE VIEW question_board_orders AS
SELECT
    e.task, e.metric, e.dataset, e.language, e.culture, e.entity_type, e.setting, e.variant,
    if((d.verdict = 'higher') = (e.goal <> 'low'), d.a, d.b) AS better,
    if((d.verdict = 'higher') = (e.goal <> 'low'), d.b, d.a) AS worse
FROM differences AS d
INNER JOIN question_board_entries AS e
    ON e.model = d.a AND e.metric = d.metric AND e.dataset = d.dataset AND e.language = d.language
    AND e.variant = concat_ws(', ', d.method, d.reader) AND e.setting = concat_ws(', ', 'all questions', d.facets['type'])
WHERE d.measure = 'questions' AND d.dimension = 'model' AND d.target = 'new_prompts' AND d.verdict IN ('higher', 'lower')
    AND e.goal <> 'zero' AND d.facets['level'] IS NULL AND d.condition = '*';

-- question_board_failures: a row is a model of which no answer came to the questions of a set.
CREATE VIEW question_board_failures AS
SELECT
    'questions' AS task, a.method AS way, a.model, q.set AS dataset, 'all questions' AS setting, q.language,
    NULL::VARCHAR AS culture, NULL::VARCHAR AS entity_type, count(*) AS failed, mode(a.error) AS reason
FROM read_answers AS a
INNER JOIN questions AS q USING (question_id)
GROUP BY a.method, a.model, q.set, q.language
HAVING count(*) FILTER (a.status = 'ok') = 0;
