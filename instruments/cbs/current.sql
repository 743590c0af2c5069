-- Which scores count now.

-- scoring_models: a row is a model whose scores count, one of the run or the n-gram model of a corpus, and the setup
-- under which they do; NULL where the run knows none.
CREATE VIEW scoring_models AS
WITH models AS (
    SELECT model FROM run_models
    UNION
    SELECT model FROM stored_scores WHERE starts_with(model, 'ngram:')
)
SELECT model, setup_id FROM models LEFT JOIN (FROM run_setups WHERE use = 'score') USING (model);

-- scores: a row is how probable a model finds an entity in the gap of a context, or why that is not known: under the
-- model's present setup, of what the data set holds now. What the publisher says of an entity is what he says now.
-- A causal context that begins with its gap counts after a reading as published alone.
CREATE VIEW scores AS
SELECT s.* REPLACE (
    CASE WHEN d.dataset IS NULL THEN s.english ELSE e.translation END AS english,
    CASE WHEN d.dataset IS NULL THEN s.publisher_qid ELSE e.publisher_qid END AS publisher_qid
)
FROM stored_scores AS s
SEMI JOIN scoring_models AS m ON s.model = m.model AND s.setup_id IS NOT DISTINCT FROM m.setup_id
LEFT JOIN datasets AS d ON s.dataset = d.dataset
LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
LEFT JOIN dataset_entities AS e ON s.entity_id = e.entity_id
WHERE s.status <> 'unusable'
    AND (d.dataset IS NULL OR (
        c.dataset IS NOT NULL AND e.dataset IS NOT NULL AND is_of_gender(e.gender, c.gender)
        AND NOT coalesce(c.starts_with_gap AND c.form = 'causal' AND NOT c.as_published, false)
    ));

-- cultural_links: a row is what an entity of a data set means in Wikidata, by the linker, or why nothing.
CREATE VIEW cultural_links AS SELECT * FROM stored_cultural_links;

-- bought_scores: a row is a score that this run bought, whether it still counts or not.
CREATE VIEW bought_scores AS
SELECT
    'score' AS stage, model, language, entity_type AS topic, model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_scores WHERE purchase IS NOT NULL;

-- failed_scores: a row is a score that failed.
CREATE VIEW failed_scores AS
SELECT 'score' AS stage, model, language, entity_type AS topic, error, retryable FROM scores WHERE status = 'failed';
