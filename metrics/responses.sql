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

-- read_responses: a row is a response that an extractor read whole, and that is no copy, in numbers: its prompt as its model
-- is asked it, and its name, which has the prompt in its upper half. `refused`, `off_language` and `cut` (at the limit of
-- tokens) are of its text.
CREATE TEMP TABLE read_responses AS
WITH told AS (
    SELECT
        request_id, sample, is_refusal(ending, refused) AS declines,
        is_off_language(detected_language, language, script_share) AS elsewhere, ending = 'cut' AS cut
    FROM responses
)
SELECT
    p.model, p.cell, p.prompt, p.prompt * 4294967296 + e.sample AS response,
    coalesce(t.declines, false) AS refused, coalesce(t.elsewhere, false) AS off_language, coalesce(t.cut, false) AS cut
FROM extractions AS e
INNER JOIN asked_prompts AS p USING (request_id)
LEFT JOIN told AS t ON e.request_id = t.request_id AND e.sample = t.sample
ANTI JOIN copies AS c ON e.request_id = c.request_id AND e.sample = c.sample
WHERE e.status = 'ok';

-- dependent_responses: a row is a response that depends on one of the same model to another prompt, which the file of imported
-- texts shows: both have one seed, or are one text of 200 characters or more. `kind` is what they have in common, `cluster` those that have it.
CREATE TEMP TABLE dependent_responses AS
WITH shown AS (
    SELECT r.model, p.prompt, p.prompt * 4294967296 + r.sample AS response, k.kind, k.cluster
    FROM responses AS r
    INNER JOIN asked_prompts AS p USING (request_id)
    CROSS JOIN LATERAL (
        VALUES
            ('seed', hash(r.seed), r.seed IS NOT NULL),
            ('text', text_hash(r.text), length(r.text) >= 200 AND NOT is_refusal(r.ending, r.refused)) -- chance repeats none
    ) AS k (kind, cluster, there)
    WHERE r.origin IS NOT NULL AND r.status = 'ok' AND k.there
)
SELECT s.kind, s.model, s.cluster, s.prompt, s.response
FROM shown AS s
SEMI JOIN (
    SELECT model, kind, cluster FROM shown GROUP BY ALL HAVING count(DISTINCT prompt) > 1
) AS c USING (model, kind, cluster);

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
