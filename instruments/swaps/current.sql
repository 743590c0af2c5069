-- Which answers count now.

-- swap_answers: a row is what a model said of a context with an entity in its gap, under the run's present prompts and
-- the model's present setup, of what the data set holds now, as the present reader reads it: what it has not read is as
-- it was read when it came. The right sentiment is the one that the data set says now.
--   seed: the seed that the sample was drawn with
--   times: how often the text counts: its draw takes the entity so often, as its side has fewer than are drawn
CREATE VIEW swap_answers AS
WITH read_answers AS (
    SELECT s.* REPLACE (
        CASE WHEN r.answer_id IS NULL THEN s.reader_id ELSE r.reader_id END AS reader_id,
        CASE WHEN r.answer_id IS NULL THEN s.status ELSE r.status END AS status,
        CASE WHEN r.answer_id IS NULL THEN s.error ELSE r.error END AS error,
        CASE WHEN r.answer_id IS NULL THEN s.retryable WHEN r.status = 'failed' THEN false END AS retryable,
        CASE WHEN r.answer_id IS NULL THEN s.answer ELSE r.answer END AS answer,
        CASE WHEN r.answer_id IS NULL THEN s.matched ELSE r.matched END AS matched,
        CASE WHEN r.answer_id IS NULL THEN s.predicted ELSE r.predicted END AS predicted,
        CASE WHEN r.answer_id IS NULL THEN s.elsewhere ELSE r.elsewhere END AS elsewhere,
        CASE WHEN r.answer_id IS NULL THEN s.refused ELSE r.refused END AS refused,
        CASE
            WHEN r.answer_id IS NOT NULL THEN r.strict
            WHEN s.answer_method = 'tagger' THEN coalesce(s.strict, s.matched) -- a tagger's spans are exact
            ELSE s.strict
        END AS strict,
        CASE
            WHEN r.answer_id IS NOT NULL THEN r.strict_predicted
            WHEN s.answer_method = 'tagger' THEN coalesce(s.strict_predicted, s.predicted)
            ELSE s.strict_predicted
        END AS strict_predicted,
        CASE WHEN r.answer_id IS NULL THEN s.echoed ELSE r.echoed END AS echoed
    )
    FROM stored_swap_answers AS s
    LEFT JOIN run_asked AS q ON q.instrument = 'swaps' AND q.key = concat('reader ', s.task, ' ', s.language)
    LEFT JOIN stored_swap_readings AS r
        ON r.answer_id = s.answer_id AND r.reader_id = q.id AND s.reader_id IS DISTINCT FROM q.id
    WHERE s.status <> 'unusable'
)
SELECT s.* REPLACE (
    CASE WHEN s.task = 'sentiment' AND d.dataset IS NOT NULL THEN c.sentiment ELSE s.gold END AS gold,
    CASE WHEN s.task = 'sentiment' AND d.dataset IS NOT NULL THEN (s.answer = c.sentiment)::BIGINT ELSE s.matched END
        AS matched
), coalesce(t.times, 1) AS times
FROM read_answers AS s
LEFT JOIN stored_swap_repeats AS t
    ON t.task = s.task AND t.context_id = s.context_id AND t.entity_id = s.entity_id AND t.draw = s.draw
LEFT JOIN run_setups AS u ON u.use = 'answer' AND s.model = u.model
LEFT JOIN datasets AS d ON s.dataset = d.dataset
LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
LEFT JOIN dataset_entities AS e ON s.entity_id = e.entity_id
WHERE s.prompt_id IN (SELECT id FROM run_asked WHERE instrument = 'swaps')
    AND (s.answer_method <> 'prompt' OR s.model IN (SELECT model FROM run_models))
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND (d.dataset IS NULL OR (
        c.dataset IS NOT NULL AND e.dataset IS NOT NULL AND is_of_gender(e.gender, c.gender)
        AND (s.task <> 'sentiment' OR c.sentiment IS NOT NULL)
    ));

-- swap_repeats: a row is an entity that a draw takes more than once for a context, as it was last asked: its side has fewer
-- entities than are drawn, and both sides are to have as many texts.
CREATE VIEW swap_repeats AS SELECT * FROM stored_swap_repeats;

-- bought_swap_answers: a row is an answer that this run bought, whether it still counts or not.
CREATE VIEW bought_swap_answers AS
SELECT
    task AS stage, model, language, entity_type AS topic, model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_swap_answers WHERE purchase IS NOT NULL;

-- failed_swap_answers: a row is an answer that failed.
CREATE VIEW failed_swap_answers AS
SELECT task AS stage, model, language, entity_type AS topic, error, retryable
FROM swap_answers WHERE status = 'failed';
