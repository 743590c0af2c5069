-- What a run has bought, whoever asked: each table that is paid for is in `bought`.

-- bought: a row is an answer that this run bought, as the table that keeps it says.

-- purchases: a row is an answer that this run bought, whether it still counts or not, and whether it was of use or not.
--   by_prices: what the experiment file's prices make of its tokens; NULL where the model has no price
--   cost: what it cost: what the server named; else what the file's prices make of its tokens
CREATE VIEW purchases AS
SELECT *, coalesce(named_cost, by_prices) AS cost
FROM (
    SELECT bought.*,
        (coalesce(prompt_tokens, 0) * input + coalesce(completion_tokens, 0) * output) / 1e6
            * CASE WHEN purchase = 'batch' THEN 1 - batch_discount ELSE 1 END AS by_prices
    FROM bought LEFT JOIN run_prices AS price ON price.model = bought.asked
);

-- spending: a row is what a stage has bought for a job from a model, and what that cost. A row without `purchase` is what
-- was charged for requests that are in no row of the store: attempts that failed and may be billed, and those that were
-- in flight when a process ended, each at its most.
--   model: the model of the job
--   asked: the model that was asked and paid: of an extraction the extractor's; NULL in a row without `purchase`
--   purchase: how the answers were bought: 'direct' or 'batch'; NULL of what is in no row of the store
--   answers: answers that were bought and could be used
--   failed: answers that were bought or asked for and could not be used
--   unusable: answers that were bought, were of no use, and were asked for again
--   unknown_bills: requests whose bill nobody knows: each is in `cost` at its most
--   prompt_tokens: tokens that were read
--   completion_tokens: tokens that were written
--   named_cost: the part of `cost` that the server named; NULL where it named none
--   by_prices: what the experiment file's prices make of all these tokens; NULL where the model has no price
CREATE VIEW spending AS
SELECT stage, model, language, topic, asked, purchase,
    count(*) FILTER (WHERE status = 'ok') AS answers,
    count(*) FILTER (WHERE status NOT IN ('ok', 'unusable')) AS failed,
    count(*) FILTER (WHERE status = 'unusable') AS unusable,
    0::BIGINT AS unknown_bills,
    coalesce(sum(prompt_tokens), 0)::BIGINT AS prompt_tokens,
    coalesce(sum(completion_tokens), 0)::BIGINT AS completion_tokens,
    sum(cost ORDER BY cost) AS cost, -- in any other order two exports would differ in the last digit
    sum(named_cost ORDER BY named_cost) AS named_cost,
    sum(by_prices ORDER BY by_prices) AS by_prices
FROM purchases GROUP BY ALL
UNION ALL BY NAME
SELECT stage, model, language, topic, 0 AS answers, 0 AS failed, 0 AS unusable,
    unknown_bills, 0::BIGINT AS prompt_tokens, 0::BIGINT AS completion_tokens, charged AS cost
FROM run_charges;
