-- text_board_entries: a row is a model's number in a metric of texts on a board: over the cells that all models have where
-- they lack different ones, else over all; models are ranked on the same prompts, by the numbers alone where nothing was
-- sampled, or else on new prompts like these. Culture specificity and its gain are those of prompts that name the country;
-- where no prompt is known to name one, as in imported texts, culture specificity is that of texts about the country.
--   language: the run's language where it has one alone
--   contexts: cells that the number is over
--   items: always NULL: all models of a board have the same cells
--   doubt: always NULL, as `items`
CREATE VIEW text_board_entries AS
WITH told AS (
    FROM ranks
    WHERE measure = 'entities' AND dimension = 'model' AND condition IN ('*', 'explicit', 'unstated')
    QUALIFY (condition <> 'unstated' OR NOT bool_or(condition = 'explicit') OVER ())
        AND target = if(bool_or(target = 'same_prompts' AND (tested > 0 OR exact > 0)) OVER (PARTITION BY metric, condition), 'same_prompts', 'new_prompts')
),
means AS (
    SELECT metric, condition, model, estimate, low, high, wide_low, wide_high, cells, level LIKE '%, shared' AS shared
    FROM numbers
    WHERE measure = 'entities' AND level IN ('model', 'model, condition', 'model, shared', 'model, condition, shared')
    QUALIFY shared = bool_or(shared) OVER (PARTITION BY metric, condition, model)
)
SELECT
    'texts' AS task, metric, 'more' AS goal, 'all topics' AS dataset,
    (SELECT if(count(DISTINCT language) = 1, any_value(language), NULL) FROM prompts) AS language, NULL::VARCHAR AS culture,
    NULL::VARCHAR AS entity_type, if(condition = '*', 'all prompts', condition) AS setting,
    if(target = 'new_prompts', 'new prompts', if(exact > 0, 'same prompts: exact, nothing was sampled', 'same prompts'))
        AS variant, '' AS way, name AS model, estimate,
    if(target = 'new_prompts', wide_low, low) AS low, if(target = 'new_prompts', wide_high, high) AS high,
    cells::BIGINT AS contexts, NULL::BIGINT AS native_entities, NULL::BIGINT AS western_entities,
    NULL::BIGINT AS native_fewest, NULL::BIGINT AS western_fewest,
    NULL::VARCHAR AS items, NULL::VARCHAR AS doubt
FROM told AS t
INNER JOIN means AS m USING (metric, condition)
WHERE m.model = t.name AND estimate IS NOT NULL;

-- text_board_orders: a row is two models on a board, the one told to be above the other.
CREATE VIEW text_board_orders AS
SELECT DISTINCT e.task, e.metric, e.dataset, e.language, e.culture, e.entity_type, e.setting, e.variant, p.better, p.worse
FROM ranked_pairs AS p
INNER JOIN text_board_entries AS e
    ON p.board.metric = e.metric AND p.better = e.model
    AND if(p.board.condition = '*', 'all prompts', p.board.condition) = e.setting
    AND p.board.target = if(e.variant = 'new prompts', 'new_prompts', 'same_prompts')
WHERE p.board.measure = 'entities' AND p.board.dimension = 'model';
