-- The cells under numbers, and what each response names: temporary, so that no query carries names of columns.
-- `responses.py` reads one model at a time.

-- measured_cells: a row is a cell under its number, with its diversity and the responses that this rests on.
CREATE TEMP TABLE measured_cells AS
SELECT cell, model, language, topic, condition, country, wording, responses, diversity
FROM cell_diversity;

-- measured_values: a row is a metric of a cell (for consensus: of a pair of cells), as the view of its name defines it: the
-- estimate, or NULL, which is a missing number; and what it rests on, of a gain and of consensus that of both sides.
CREATE TEMP TABLE measured_values AS
WITH found AS (
    SELECT
        'granularity' AS metric, model, language, NULL AS other_language, topic, condition, country, wording,
        granularity AS estimate, responses, incidences
    FROM granularity
    UNION ALL
    SELECT 'linked_by_english', model, language, NULL, topic, condition, country, wording, linked_by_english, responses, incidences
    FROM linked_by_english
    UNION ALL
    SELECT 'diversity', model, language, NULL, topic, condition, country, wording, diversity, responses, incidences
    FROM cell_diversity
    UNION ALL
    SELECT 'specificity', model, language, NULL, topic, condition, country, wording, specificity, responses, incidences
    FROM specificity
    UNION ALL
    SELECT
        'share_without_country', model, language, NULL, topic, condition, country, wording, share_without_country, responses,
        incidences
    FROM countryless
    UNION ALL
    SELECT
        'specificity_gain', model, language, NULL, topic, condition, country, wording,
        gain, responses + neutral_responses, incidences + neutral_incidences
    FROM specificity_gain
    UNION ALL
    SELECT
        'consensus', model, language, other_language, topic, condition, country, wording,
        consensus, responses + other_responses, incidences + other_incidences
    FROM consensus
    UNION ALL
    SELECT 'dominance', model, language, NULL, topic, condition, country, wording, dominance, responses, incidences FROM dominance
    UNION ALL
    SELECT
        c.metric, d.model, d.language, NULL, d.topic, d.condition, d.country, d.wording, c.estimate, d.responses, d.incidences
    FROM cell_diversity AS d
    LEFT JOIN cell_companions AS o USING (cell)
    CROSS JOIN LATERAL (
        VALUES
            ('hill_1', o.hill_1), ('hill_2', o.hill_2), ('coverage', o.coverage), ('rarefied', o.rarefied)
    ) AS c (metric, estimate)
)
SELECT
    metric, model, language, coalesce(other_language, '-') AS other_language, topic, condition,
    coalesce(country, 'none') AS country, wording, estimate, responses, incidences
FROM found;

-- read_responses: a row is a response of `read_texts` in numbers: its prompt as its model is asked it, and its name, which
-- has the prompt in its upper half.
CREATE TEMP TABLE read_responses AS
SELECT model, cell, prompt, prompt * 4294967296 + sample AS response, refused, off_language, cut
FROM read_texts;

-- dependent_responses: a row is a response that depends on another one of the same model, as the file of imported texts shows.
-- `kind` is what they have in common, `cluster` those that have it: a seed; a record of the file, as of a request that gave several
-- texts; or a text under two prompts, of 200 characters or more, or of prompts that share texts beyond chance. Digits and
-- punctuation are left aside, and where a prompt has the text several times, the first is held against the first.
CREATE TEMP TABLE dependent_responses AS
WITH shown AS MATERIALIZED (
    SELECT
        r.model, p.prompt, p.prompt * 4294967296 + r.sample AS response, r.seed, r.origin, a.letters,
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

-- associated_items: a row is a counted country that an item is associated with. The number of an item is its QID's.
CREATE TEMP TABLE associated_items AS
SELECT substr(qid, 2)::BIGINT AS item, country
FROM associations
WHERE country IN (SELECT country FROM neutral_countries);

-- linked_items: a row is an item that a response mentions. A column of a share's name is what its numerator counts of it: the
-- mean label of its mentions there, and whether their English names alone lead to it.
CREATE TEMP TABLE linked_items AS
SELECT
    c.model, m.cell, m.prompt * 4294967296 + m.sample AS response, substr(l.qid, 2)::BIGINT AS item,
    mean_label(count(*) FILTER (m.granularity = 1), count(*))::DOUBLE AS granularity, bool_and(l.only_english) AS linked_by_english
FROM numbered_mentions AS m
INNER JOIN numbered_cells AS c USING (cell)
INNER JOIN links AS l USING (query)
WHERE m.counts AND l.status = 'linked'
GROUP BY c.model, m.cell, m.prompt, m.sample, l.qid;
