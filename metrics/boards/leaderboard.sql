-- Models by task and language. Instruments feed `board_entries`, `board_orders` and `board_failures`; what a row is stands
-- here.

-- board_entries: a row is a model's number on a board: a task and metric on a data set, in a language, culture, type and
-- setting; `way` is how models were asked for it. `goal` says what is good: 'low', 'high', 'zero' for a difference, which is
-- compared by its size, or 'more': from the highest down, and what is good depends on the use.
--   task: the task: the name of its command
--   metric: the metric; with '_difference' behind it: native less Western entities
--   native_entities: native entities that the number rests on
--   western_entities: Western entities that it was compared with
--   estimate: the metric, or the difference; NULL where the model was asked and its number is withheld: `doubt` says why
--   native_fewest: native entities in the context that has the fewest; NULL where the task has no such number
--   western_fewest: the same of Western entities
--   items: a hash of what the model was asked; NULL where the numbers of contexts and entities tell it
--   doubt: what the number says less than others for: how many answers nobody could read, and which questions it is of

-- board_orders: a row is two models on a board of which a paired difference tells that one is better. Where the goal is
-- 'zero', sizes of differences are compared, which are not paired: their intervals tell it, of models that were asked
-- the same questions.
--   better: the model that is better
--   worse: the other one

-- board_failures: a row is a model that was asked as others on a board were, in a language, culture and type, and of
-- which nothing could be used; `reason` is the commonest.

-- numbered_entries: a row of `board_entries` with its board.
--   board: what a board is of, as one value
--   smallest: the least size that the number may have, by its interval
--   largest: the largest size
CREATE VIEW numbered_entries AS
SELECT *,
    (task, metric, dataset, coalesce(language, ''), coalesce(culture, ''), coalesce(entity_type, ''), setting, variant) AS board,
    CASE WHEN low <= 0 AND high >= 0 THEN 0 ELSE least(abs(low), abs(high)) END AS smallest,
    greatest(abs(low), abs(high)) AS largest
FROM board_entries;

-- told_orders: a row is two models on a board of which one is told to be better: by `board_orders`, or by the sizes of two
-- differences.
--   board: as in numbered_entries
--   better: the model that is better
--   worse: the other one
CREATE VIEW told_orders AS
WITH entries AS MATERIALIZED (FROM numbered_entries),
orders AS (
    SELECT
        (task, metric, dataset, coalesce(language, ''), coalesce(culture, ''), coalesce(entity_type, ''), setting, variant) AS board,
        better, worse
    FROM board_orders
    UNION ALL
    SELECT a.board, a.model, b.model
    FROM entries AS a INNER JOIN entries AS b ON a.board = b.board AND a.largest < b.smallest
    WHERE a.goal = 'zero' AND a.items IS NOT DISTINCT FROM b.items
)
SELECT o.board, o.better, o.worse
FROM orders AS o
SEMI JOIN entries AS b ON o.board = b.board AND o.better = b.model
SEMI JOIN entries AS w ON o.board = w.board AND o.worse = w.model;

-- leaderboard: a row is a model on a board with the ranks that are open to it: from `rank_low`, one more than the models
-- that are told to be better, to `rank_high`, which leaves below it those that are told to be worse. Models are told apart
-- by their paired difference over what both were asked (`differences`). Models with the same ranks are tied. A model of
-- which nothing could be used, or whose number is withheld, has no rank, and the `reason`.
--   task: the task: the name of its command
--   metric: the metric; with '_difference' behind it: native less Western entities
--   models: models on the board, those without a rank among them
--   native_entities: native entities that the number rests on
--   western_entities: Western entities that it was compared with
--   estimate: the metric, or the difference
--   rank_low: the best rank that is open to the model, from 1; NULL where no other model has a number
--   rank_high: the worst rank that is open to it
--   same_items: all models of the board rest on the same questions, or on as many contexts and entities
--   doubt: what the number says less than others for: how many answers nobody could read, and which questions it is of
CREATE VIEW leaderboard AS
WITH orders AS MATERIALIZED (FROM told_orders),
boards AS MATERIALIZED (
    SELECT
        e.*, count(estimate) OVER (PARTITION BY board) AS models,
        count(DISTINCT (items, contexts, native_entities, western_entities, native_fewest, western_fewest))
            OVER (PARTITION BY board) = 1 AS same_items
    FROM numbered_entries AS e
),
placed AS (
    SELECT
        task, metric, goal, dataset, language, culture, entity_type, setting, variant,
        if(b.models > 1 AND estimate IS NOT NULL, 1 + coalesce(a.models, 0), NULL) AS rank_low,
        if(b.models > 1 AND estimate IS NOT NULL, b.models - coalesce(w.models, 0), NULL) AS rank_high,
        b.model, estimate, low, high, b.models, same_items, doubt, contexts, native_entities, western_entities,
        NULL::BIGINT AS failed, CASE WHEN estimate IS NULL THEN doubt END AS reason
    FROM boards AS b
    LEFT JOIN (SELECT board, worse AS model, count(*) AS models FROM orders GROUP BY ALL) AS a
        ON b.board = a.board AND b.model = a.model
    LEFT JOIN (SELECT board, better AS model, count(*) AS models FROM orders GROUP BY ALL) AS w
        ON b.board = w.board AND b.model = w.model
    UNION ALL BY NAME
    SELECT DISTINCT
        b.task, b.metric, b.goal, b.dataset, b.language, b.culture, b.entity_type, b.setting, b.variant, f.model,
        b.same_items, f.failed, f.reason
    FROM boards AS b
    INNER JOIN board_failures AS f
        ON b.task = f.task AND b.way = f.way AND b.dataset = f.dataset AND b.setting = f.setting
        AND b.language IS NOT DISTINCT FROM f.language
        AND b.culture IS NOT DISTINCT FROM f.culture
        AND b.entity_type IS NOT DISTINCT FROM f.entity_type
)
SELECT * REPLACE (
    count(*) OVER (PARTITION BY task, metric, dataset, language, culture, entity_type, setting, variant) AS models
)
FROM placed;
