-- Which answers are copies. Equal texts are a sign of dependence only where chance does not explain them: docs/statistics.md
-- ("Copies") has the argument, bench/copies.py says how often it errs.

-- is_long_text: does a text have so many letters that it is no single word or name? A character of Chinese or Japanese says as
-- much as some three letters.
CREATE MACRO is_long_text(text) AS
    length(text) >= CASE WHEN regexp_matches(text, '[\p{Han}\p{Hiragana}\p{Katakana}]') THEN 24 ELSE 60 END;

-- count_bets: a row is a bet on how often texts occur: what it multiplies its stake with for a text that occurs as often as it
-- bets on (`at_times`), more rarely (`less`), or more often (`more`). Independent samples of any distribution let no bet gain on
-- average, in prompts of at least 8 answers and 3 x `times` (bench/copies.py computes the factors), so the product is an
-- e-value: it exceeds x with a probability of at most 1 / x (Ramdas et al. 2023, Statistical Science 38, 576).
--   times: how often a text occurs, as the bet says
--   at_times: the factor for a text that occurs so often
--   less: the factor for a text that occurs more rarely
--   more: the factor for a text that occurs more often
CREATE VIEW count_bets AS
FROM (
    VALUES
        (2, 1.153, 0.99, 0.02), (2, 1.507, 0.9, 0.02), (2, 1.918, 0.7, 0.02), (2, 2.78, 0.02, 0.02),
        (2, 1.433, 0.9, 0.3), (2, 1.79, 0.7, 0.3), (2, 1.619, 0.7, 0.6),
        (3, 1.81, 0.9, 0.02), (4, 2.06, 0.9, 0.02), (3, 3.50, 0.02, 0.02), (4, 4.09, 0.02, 0.02), (5, 4.58, 0.02, 0.02), (6, 5.01, 0.02, 0.02)
) AS bets (times, at_times, less, more);

-- copies: a row is an answer that copies another one to its prompt: all but the first of equal ones. Copies are no further
-- samples, and no metric counts them. Each model, language and topic is decided by itself.
--   evidence: 'counts': texts do not occur as often as independent samples of any distribution do (each exactly twice, say);
--     'length': long texts are equal to the end, no other text has the first or the second half of them, and none is a
--     favourite. This says nothing where it is known that each answer was asked for by itself, by Polyculture or with a seed of
--     its own, while a prompt has several texts: at a low temperature a model says a few long texts by their chances
CREATE VIEW copies AS
WITH texts AS MATERIALIZED (SELECT * FROM answer_texts),
answers AS ( -- `sameness` is 'text' for the same words, and 'letters' for words that are the same but for digits and punctuation
    SELECT 'text' AS sameness, text AS words, * EXCLUDE (text, letters) FROM texts
    UNION ALL BY NAME
    SELECT 'letters' AS sameness, letters AS words, * EXCLUDE (text, letters) FROM texts WHERE letters IS NOT NULL
),
counted AS MATERIALIZED (
    SELECT *, sum(times) OVER (PARTITION BY sameness, model, language, topic, prompt_id) AS answers
    FROM (
        SELECT sameness, model, language, topic, prompt_id, words, count(*) AS times, min(sample) AS first_sample
        FROM answers
        GROUP BY ALL
    )
),
repeated AS MATERIALIZED (FROM counted WHERE times > 1),
by_counts AS (
    SELECT DISTINCT sameness, model, language, topic
    FROM (
        SELECT sameness, model, language, topic, answers, times, count(*) AS texts
        FROM counted
        SEMI JOIN repeated USING (sameness, model, language, topic)
        GROUP BY ALL
    ) AS c, (SELECT *, count(*) OVER () AS bets FROM count_bets) AS b
    WHERE c.answers >= greatest(8, 3 * b.times)
    GROUP BY sameness, model, language, topic, b.times, b.at_times, b.less, b.more
    HAVING sum(c.texts * ln(CASE WHEN c.times = b.times THEN b.at_times WHEN c.times < b.times THEN b.less ELSE b.more END))
        > ln(1000 * any_value(b.bets))
),
long AS MATERIALIZED (
    SELECT DISTINCT model, language, topic, prompt_id
    FROM repeated AS c
    INNER JOIN responses AS r USING (model, language, topic, prompt_id)
    WHERE r.sample = c.first_sample AND r.status = 'ok' AND is_long_text(r.text)
),
spelled AS MATERIALIZED ( -- the distinct texts of prompts in which a long one is repeated
    SELECT
        c.*, is_long_text(r.text) AS is_long, count(*) OVER (PARTITION BY sameness, model, language, topic, words) AS prompts,
        CASE WHEN c.sameness = 'letters' THEN plain_text(r.text) ELSE trim(r.text, E' \n\t\r' || chr(12288)) END AS spelled
    FROM counted AS c
    SEMI JOIN long USING (model, language, topic, prompt_id)
    INNER JOIN responses AS r USING (model, language, topic, prompt_id)
    WHERE r.sample = c.first_sample AND r.status = 'ok'
),
-- Texts that have the longest beginning in common are next to one another in the alphabet; those that have the longest end,
-- in that of the reversed texts.
halves AS (
    SELECT
        *, (length(spelled) + 1) // 2 AS half,
        lag(spelled) OVER begins AS before, lead(spelled) OVER begins AS after,
        lag(spelled) OVER ends AS before_reversed, lead(spelled) OVER ends AS after_reversed
    FROM spelled
    WINDOW
        begins AS (PARTITION BY sameness, model, language, topic, prompt_id ORDER BY spelled),
        ends AS (PARTITION BY sameness, model, language, topic, prompt_id ORDER BY reverse(spelled))
),
alone AS (
    SELECT sameness, model, language, topic
    FROM halves
    WHERE times > 1 AND is_long
    GROUP BY ALL
    HAVING count_if(
        (prompts = 1 OR times = answers)
        AND spelled[:half] NOT IN (coalesce(before[:half], ''), coalesce(after[:half], ''))
        AND right(spelled, half) NOT IN (coalesce(right(before_reversed, half), ''), coalesce(right(after_reversed, half), ''))
    ) > greatest(2, count(*) / 2)
),
-- A model that has few long texts says some of them far more often than others, or has said nearly all of them twice. Copies
-- that were made by chance fall on any text of their prompt alike: two of them on one text with a chance of 1 / texts, and
-- pairs are independent of one another two by two, which gives the variance of their number.
favourites AS (
    SELECT sameness, model, language, topic
    FROM (
        SELECT
            sameness, model, language, topic, count(*) AS texts, count_if(times = 1) AS once,
            sum(times - 1) * (sum(times - 1) - 1) / 2 / texts AS expected, sum((times - 1) * (times - 2) / 2) AS pairs
        FROM spelled
        WHERE is_long
        GROUP BY sameness, model, language, topic, prompt_id
    )
    GROUP BY ALL
    HAVING max(texts) > 1
        AND (sum(once) < sum(texts) / 4 OR sum(pairs) > sum(expected) + 3 * sqrt(sum(expected * (1 - 1 / texts))))
),
asked_apart AS ( -- groups of which it is known that each answer was asked for by itself, and that have several texts to a prompt
    SELECT DISTINCT s.model, s.language, s.topic
    FROM spelled AS s
    SEMI JOIN (
        SELECT model, prompt_id
        FROM responses
        SEMI JOIN long USING (model, language, topic, prompt_id)
        WHERE status = 'ok'
        GROUP BY ALL
        HAVING bool_and(origin IS NULL) OR count(DISTINCT seed) = count(*)
    ) USING (model, prompt_id)
    WHERE s.sameness = 'text' AND s.times < s.answers
),
by_length AS (
    FROM alone
    ANTI JOIN favourites USING (sameness, model, language, topic)
    ANTI JOIN asked_apart USING (model, language, topic)
),
suspects AS (
    SELECT r.*, 'counts' AS evidence FROM repeated AS r SEMI JOIN by_counts USING (sameness, model, language, topic)
    UNION ALL BY NAME
    SELECT r.*, 'length' AS evidence
    FROM repeated AS r
    SEMI JOIN by_length USING (sameness, model, language, topic)
    SEMI JOIN (FROM spelled WHERE is_long) USING (sameness, model, language, topic, prompt_id, words)
),
copied AS ( -- copies are told by their letters where these explain twice as many as the words do
    FROM suspects
    WINDOW every AS (PARTITION BY model, language, topic)
    QUALIFY (sameness = 'letters') = (
        coalesce(sum(times - 1) FILTER (sameness = 'letters') OVER every, 0)
        > 2 * coalesce(sum(times - 1) FILTER (sameness = 'text') OVER every, 0)
    )
)
SELECT a.request_id, a.sample, a.model, a.language, a.topic, a.prompt_id, min(c.evidence) AS evidence
FROM answers AS a
INNER JOIN copied AS c USING (sameness, model, language, topic, prompt_id, words)
WHERE a.sample > c.first_sample
GROUP BY ALL;

-- renumbered: a row is an imported answer that differs from another one to its prompt in digits or punctuation alone, and is no
-- copy by `copies`. Short answers may do so by chance; nothing says of a few of them whether they were copied and numbered.
CREATE VIEW renumbered AS
SELECT request_id, sample, model, language
FROM answer_texts
ANTI JOIN copies USING (request_id, sample)
WHERE letters IS NOT NULL
WINDOW same_letters AS (PARTITION BY model, prompt_id, letters)
QUALIFY min(text) OVER same_letters < max(text) OVER same_letters;
