-- Models by task and language. Instruments feed `board_entries` and `board_failures`; what a row is stands here.

-- board_entries: a row is a model's number on a board: a task and metric on a data set, in a language, culture, type and
-- setting; `way` is how models were asked for it. `goal` says what is good: 'low', 'high', or 'zero' for a difference,
-- which is compared by its size.
--   task: the task: the name of its command
--   metric: the metric; with '_difference' behind it: native less Western entities
--   native_entities: native entities that the number rests on
--   western_entities: Western entities that it was compared with
--   estimate: the metric, or the difference
--   native_fewest: native entities in the context that has the fewest; NULL where the task has no such number
--   western_fewest: the same of Western entities

-- board_failures: a row is a model that was asked as others on a board were, in a language, culture and type, and of
-- which nothing could be used; `reason` is the commonest.

-- leaderboard: a row is a model on a board with the ranks that its interval leaves open: from `rank_low`, one more than
-- the models whose intervals are wholly on the better side of its own, to `rank_high`, which leaves below it those wholly
-- on the worse side. Models with the same ranks are tied. Nothing is claimed of a model without an interval. A model of
-- which nothing could be used has no rank, and the `reason`.
--   task: the task: the name of its command
--   metric: the metric; with '_difference' behind it: native less Western entities
--   models: models on the board, those without a rank among them
--   native_entities: native entities that the number rests on
--   western_entities: Western entities that it was compared with
--   estimate: the metric, or the difference
--   rank_low: the best rank that the interval leaves open, from 1
--   rank_high: the worst rank that the interval leaves open
--   same_items: all models of the board rest on as many contexts and entities
CREATE VIEW leaderboard AS
WITH sized AS (
    SELECT *,
        CASE goal
            WHEN 'low' THEN low
            WHEN 'high' THEN -high
            ELSE CASE WHEN low <= 0 AND high >= 0 THEN 0 ELSE least(abs(low), abs(high)) END
        END AS best,
        CASE goal WHEN 'low' THEN high WHEN 'high' THEN -low ELSE greatest(abs(low), abs(high)) END AS worst
    FROM board_entries
),
boards AS (
    SELECT
        sized.*,
        list({'best': best, 'worst': worst}) OVER board AS rivals,
        count(*) OVER board AS models,
        count(DISTINCT (contexts, native_entities, western_entities, native_fewest, western_fewest)) OVER board = 1 AS same_items
    FROM sized
    WINDOW board AS (
        PARTITION BY task, metric, dataset, language, culture, entity_type, setting, variant
    )
),
placed AS (
    SELECT
        task, metric, goal, dataset, language, culture, entity_type, setting, variant,
        1 + len(list_filter(rivals, lambda rival: rival.worst < best)) AS rank_low,
        models - len(list_filter(rivals, lambda rival: rival.best > worst)) AS rank_high,
        model, estimate, low, high, models, same_items, contexts, native_entities, western_entities,
        NULL::BIGINT AS failed, NULL::VARCHAR AS reason
    FROM boards
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
