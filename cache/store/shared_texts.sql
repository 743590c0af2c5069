-- Which models wrote the same texts, beyond what chance explains. Read by a store, and by a comparison of two runs
-- (metrics/comparison/baseline.py), over their `prompt_texts` together.

-- log_choose: the logarithm of a binomial coefficient.
CREATE MACRO log_choose(n, k) AS lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);

-- has_equal_numbers: can two sides of so many answers have a text equally often, that both have so often `together`?
CREATE MACRO has_equal_numbers(together, answers, other_answers) AS
    together % 2 = 0 AND together / 2 <= least(answers, other_answers);

-- equal_stakes: a row is a share of its capital that a bet on equal numbers stakes on each text.
--   stake: 0 to 1
CREATE VIEW equal_stakes AS FROM (VALUES (0.1), (0.5), (0.9)) AS stakes (stake);

-- equal_gain: the logarithm of what a bet wins that a text which two sides have so often `together` is `times` on the first, that is,
-- a half of them. Of independent samples, of one distribution or of two, that has a chance of at most what it is paid by.
CREATE MACRO equal_gain(times, together, answers, other_answers, stake) AS
    ln(1 - stake + CASE
        WHEN 2 * times = together THEN stake / exp(
            log_choose(answers, together / 2) + log_choose(other_answers, together / 2)
            - log_choose(answers + other_answers, together)
        )
        ELSE 0
    END);

-- shared_texts: a row is two models that answered the same prompts. They are `alike` where most texts of `model` are the
-- other's, too, and both wrote their texts equally often, as one set of answers under two names does. Independent samples, of
-- one distribution or of two, share texts no more than either repeats its own: a text of two answers comes once from each with a
-- probability of a half at most. So each text that is not the commonest of its prompt is a bet on equal numbers; the product
-- is an e-value.
--   other_model: the second of them
--   texts: of `model`, to these prompts
--   shared: of these, written by `other_model`, too, as an answer to the same prompt, word for word
--   alike: do the two share texts as no independent samples do?
CREATE VIEW shared_texts AS
WITH texts AS MATERIALIZED (SELECT * FROM prompt_texts),
asked AS MATERIALIZED (SELECT model, prompt_id, sum(times) AS texts FROM texts GROUP BY ALL),
answered AS (
    SELECT a.model, b.model AS other_model, sum(a.texts)::BIGINT AS texts
    FROM asked AS a
    INNER JOIN asked AS b ON a.prompt_id = b.prompt_id AND a.model <> b.model
    GROUP BY ALL
),
same AS (
    SELECT a.model, b.model AS other_model, sum(a.times)::BIGINT AS shared
    FROM texts AS a
    INNER JOIN texts AS b ON a.prompt_id = b.prompt_id AND a.text = b.text AND a.model <> b.model
    GROUP BY ALL
),
pairs AS MATERIALIZED (
    SELECT model, other_model, texts, coalesce(shared, 0) AS shared
    FROM answered
    LEFT JOIN same USING (model, other_model)
),
of_pairs AS (
    SELECT p.model, p.other_model, t.prompt_id, t.text,
        sum(t.times) FILTER (t.model = p.model) AS times, sum(t.times) FILTER (t.model = p.other_model) AS other_times
    FROM pairs AS p
    INNER JOIN texts AS t ON t.model IN (p.model, p.other_model)
    WHERE p.shared > p.texts / 2
    GROUP BY ALL
),
numbers AS (
    SELECT
        b.model, b.other_model, coalesce(b.times, 0) AS times, times + coalesce(b.other_times, 0) AS together, o.texts AS answers, n.texts AS other_answers,
        row_number() OVER (PARTITION BY b.model, b.other_model, b.prompt_id ORDER BY together DESC, b.text) AS place
    FROM of_pairs AS b
    INNER JOIN asked AS o ON b.model = o.model AND b.prompt_id = o.prompt_id
    INNER JOIN asked AS n ON b.other_model = n.model AND b.prompt_id = n.prompt_id
),
bets AS (
    SELECT model, other_model, sum(equal_gain(times, together, answers, other_answers, stake)) AS gain
    FROM numbers, equal_stakes
    WHERE place > 1 AND has_equal_numbers(together, answers, other_answers)
    GROUP BY model, other_model, stake
)
SELECT model, other_model, p.texts, p.shared, coalesce(max(b.gain) > ln(1000 * 3), false) AS alike
FROM pairs AS p
LEFT JOIN bets AS b USING (model, other_model)
GROUP BY ALL;
