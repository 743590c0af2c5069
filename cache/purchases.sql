-- What a run has bought, whoever asked: each table that is paid for is in `bought`.

-- bought: a row is an answer that this run bought, as the table that keeps it says.

-- purchases: a row is an answer that this run bought, whether it still counts or not, and whether it was of use or not.
CREATE VIEW purchases AS
SELECT bought.*,
    (coalesce(prompt_tokens, 0) * input + coalesce(completion_tokens, 0) * output) / 1e6
        * CASE WHEN purchase = 'batch' THEN 1 - batch_discount ELSE 1 END AS cost
FROM bought LEFT JOIN run_prices AS price ON price.model = bought.asked;

-- spending: a row is what a stage has bought for a job from a model, and what that cost. Under `max_cost` a request that
-- was in flight when its process ended is charged as well, and has no row: `run` says their sum.
--   model: the model of the job
--   answers: answers that were bought and could be used
--   failed: answers that were bought or asked for and could not be used
--   unusable: answers that were bought, were of no use, and were asked for again
--   prompt_tokens: tokens that were read
--   completion_tokens: tokens that were written
CREATE VIEW spending AS
SELECT stage, model, language, topic, asked, purchase,
    count(*) FILTER (WHERE status = 'ok') AS answers,
    count(*) FILTER (WHERE status NOT IN ('ok', 'unusable')) AS failed,
    count(*) FILTER (WHERE status = 'unusable') AS unusable,
    coalesce(sum(prompt_tokens), 0)::BIGINT AS prompt_tokens,
    coalesce(sum(completion_tokens), 0)::BIGINT AS completion_tokens,
    sum(cost ORDER BY cost) AS cost -- in any other order two exports would differ in the last digit
FROM purchases GROUP BY ALL;
