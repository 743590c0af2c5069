-- A row is how a set was asked in a language by a method: prompts, orders of the options, and what decides answers.
--   orders: orders in which the options of a question were shown, of the question with the most
--   imported: the answers came in a file, which does not say how they were sampled
WITH asked AS (
    SELECT
        q.set AS dataset, q.language, a.method, w.temperature IS NULL AND a.method = 'generated' AS imported, a.prompt, a.question_id, a."order", w.n,
        w.temperature, w.max_tokens
    FROM read_answers AS a
    INNER JOIN questions AS q ON q.question_id = a.question_id
    INNER JOIN wanted_answers AS w
        ON w.request_id = a.request_id AND w.question_id = a.question_id AND w.prompt = a.prompt
),
shown AS (
    SELECT dataset, language, method, imported, question_id, count(DISTINCT "order") AS orders FROM asked GROUP BY ALL
),
most AS (SELECT dataset, language, method, imported, max(orders) AS orders FROM shown GROUP BY ALL)
SELECT
    dataset, language, method, imported, any_value(m.orders) AS orders, list_sort(list(DISTINCT prompt) FILTER (prompt <> '')) AS prompts,
    list_sort(list(DISTINCT n)) AS n, list_sort(list(DISTINCT temperature)) AS temperature,
    list_sort(list(DISTINCT max_tokens)) AS max_tokens
FROM asked
INNER JOIN most AS m USING (dataset, language, method, imported)
GROUP BY dataset, language, method, imported
ORDER BY ALL
