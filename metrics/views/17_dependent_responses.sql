-- dependent_responses: a row is a response that depends on another one of the same model, as the file of imported texts shows.
-- `kind` is what they have in common, `cluster` those that have it: a seed; a record of the file, as of a request that gave several
-- texts; or a text under two prompts, of 200 characters or more, or of prompts that share texts beyond chance. Digits and
-- punctuation are left aside. Where a prompt has the text several times, its first copy depends on the first copy of the other
-- prompt, and so on.
--   kind: 'seed', 'record' or 'text': what the responses have in common
--   cluster: the number of what they have in common; responses of one `kind` and number depend on one another
--   prompt: the number of the prompt, as in `asked_prompts`
CREATE VIEW dependent_responses AS
WITH shown AS MATERIALIZED (
    SELECT
        r.model, p.prompt, response_number(p.prompt, r.sample) AS response, r.seed, r.origin, a.letters,
        row_number() OVER (PARTITION BY p.prompt, a.letters ORDER BY r.sample) AS time, length(r.text) >= 200 AS long
    FROM responses AS r
    INNER JOIN asked_prompts AS p USING (request_id)
    LEFT JOIN answer_texts AS a ON r.request_id = a.request_id AND r.sample = a.sample
    WHERE r.origin IS NOT NULL AND r.status = 'ok'
),
texts AS MATERIALIZED (SELECT model, prompt, letters, count(*) AS times FROM shown WHERE letters IS NOT NULL GROUP BY ALL),
asked AS MATERIALIZED (SELECT model, prompt, sum(times) AS answers FROM texts GROUP BY ALL),
neighbours AS ( -- two prompts between which no other has the text
    SELECT model, prompt, lead(prompt) OVER (PARTITION BY model, letters ORDER BY prompt) AS other_prompt FROM texts
),
pairs AS (
    SELECT model, prompt, other_prompt FROM neighbours WHERE other_prompt IS NOT NULL GROUP BY ALL HAVING count(*) >= 10
),
numbers AS (
    SELECT
        p.model, p.prompt, p.other_prompt,
        coalesce(sum(t.times) FILTER (t.prompt = p.prompt), 0) AS times, sum(t.times) AS together,
        row_number() OVER (PARTITION BY p.model, p.prompt, p.other_prompt ORDER BY together DESC, t.letters) AS place
    FROM pairs AS p
    INNER JOIN texts AS t ON t.model = p.model AND t.prompt IN (p.prompt, p.other_prompt)
    GROUP BY p.model, p.prompt, p.other_prompt, t.letters
),
sharing AS (
    SELECT n.model, n.prompt, n.other_prompt
    FROM numbers AS n
    INNER JOIN asked AS a USING (prompt)
    INNER JOIN asked AS o ON n.other_prompt = o.prompt
    CROSS JOIN equal_stakes AS s
    WHERE n.place > 1 AND has_equal_numbers(n.together, a.answers, o.answers)
    GROUP BY n.model, n.prompt, n.other_prompt, s.stake
    HAVING sum(equal_gain(n.times, n.together, a.answers, o.answers, s.stake)) > ln(3000 * (SELECT count(*) FROM pairs))
),
alike AS (SELECT prompt FROM sharing UNION SELECT other_prompt FROM sharing),
clustered AS (
    SELECT s.model, s.prompt, s.response, k.kind, k.cluster
    FROM shown AS s
    LEFT JOIN alike AS l USING (prompt)
    CROSS JOIN LATERAL (
        VALUES
            ('seed', hash(s.seed), s.seed IS NOT NULL),
            ('record', hash(s.origin), true),
            ('text', hash(s.letters, s.time), s.letters IS NOT NULL AND (s.long OR l.prompt IS NOT NULL))
    ) AS k (kind, cluster, there)
    WHERE k.there
)
FROM clustered
SEMI JOIN (SELECT model, kind, cluster FROM clustered GROUP BY ALL HAVING count(*) > 1) AS c USING (model, kind, cluster);
