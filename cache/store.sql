-- The rows that count now: made for a prompt of the present experiment, by one of its models, under its present
-- sampling settings and extractor. Rows made under other settings stay in the `stored_` views.

-- is_wrong_language: is the language that was detected another one than the prompt's? zh and zh-tw are one language here;
-- what the detector could not tell is not wrong.
CREATE MACRO is_wrong_language(detected, language) AS
    coalesce(split_part(detected, '-', 1) <> split_part(language, '-', 1), false);

-- is_wrong_script: are fewer than half of the letters in the scripts of the prompt's language?
CREATE MACRO is_wrong_script(script_share) AS coalesce(script_share < 0.5, false);

-- is_misplaced: is a text in another language or script than the prompt's? The selection `right_language` is without it.
CREATE MACRO is_misplaced(detected, language, script_share) AS
    is_wrong_language(detected, language) OR is_wrong_script(script_share);

-- is_refusal: did the provider's filter or its refusal field end the answer?
CREATE MACRO is_refusal(finish_reason) AS coalesce(finish_reason IN ('content_filter', 'refusal'), false);

-- prompts: a row is one filled-in question.
CREATE VIEW prompts AS SELECT * FROM stored_prompts;

-- wanted_responses: a row is a prompt as one of the run's models is asked it; its samples below `n` count, if they were
-- made under these sampling settings.
CREATE VIEW wanted_responses AS
SELECT DISTINCT model, prompt_id, sampling_id, n
FROM run_models, prompts, run;

-- wanted_extractions: a row is one of `wanted_responses` with an extractor whose work on them counts.
CREATE VIEW wanted_extractions AS
SELECT w.*, extractor_id
FROM wanted_responses AS w, (SELECT DISTINCT extractor_id FROM run_extractors);

-- responses: a row is one sampled text, or a failure with its reason.
CREATE VIEW responses AS
SELECT r.*
FROM stored_responses AS r
SEMI JOIN wanted_responses AS w
    ON r.model = w.model AND r.prompt_id = w.prompt_id AND r.sampling_id = w.sampling_id AND r.sample < w.n;

-- extractions: a row is what the extractor did with one response. Answers of no use, after which it was asked again,
-- stand in `stored_extractions`.
CREATE VIEW extractions AS
SELECT e.*
FROM stored_extractions AS e
SEMI JOIN wanted_extractions AS w
    ON e.model = w.model AND e.prompt_id = w.prompt_id AND e.sampling_id = w.sampling_id
    AND e.extractor_id = w.extractor_id AND e.sample < w.n
WHERE e.status <> 'unusable';

-- mentions: a row is a surface string found in a response; hallucinated ones and kinds that never count included.
CREATE VIEW mentions AS
SELECT m.*
FROM stored_mentions AS m
SEMI JOIN wanted_extractions AS w
    ON m.model = w.model AND m.prompt_id = w.prompt_id AND m.sampling_id = w.sampling_id
    AND m.extractor_id = w.extractor_id AND m.sample < w.n;

-- links: a row is what a surface means within a language, topic and kind, or why nothing.
CREATE VIEW links AS SELECT * FROM stored_links;

-- candidates: a row is an item that a surface may mean, and what became of it.
CREATE VIEW candidates AS SELECT * FROM stored_candidates;

-- entities: a row is a Wikidata item that at least one surface is linked to.
CREATE VIEW entities AS SELECT * FROM stored_entities;

-- entity_countries: a row is a country of an entity, with the property that says so.
CREATE VIEW entity_countries AS SELECT * FROM stored_entity_countries;

-- dataset_contexts: a row is a context of a data set as the run last read it, or one with help as it was last asked.
CREATE VIEW dataset_contexts AS SELECT * FROM stored_dataset_contexts;

-- dataset_entities: a row is an entity of a data set as the run last read it.
CREATE VIEW dataset_entities AS SELECT * FROM stored_dataset_entities;

-- is_of_gender: does an entity fit a context, by the genders that the data set gives them?
CREATE MACRO is_of_gender(entity, context) AS
    coalesce(context, 'both') = 'both' OR coalesce(entity, 'both') = 'both' OR entity = context;

-- datasets: a row is a data set of which the run knows what it holds now. Of others, in stores of earlier versions, all
-- rows count.
CREATE VIEW datasets AS SELECT DISTINCT dataset FROM dataset_contexts;

-- scoring_models: a row is a model whose scores count, one of the run or the n-gram model of a corpus, and the setup
-- under which they do; NULL where the run knows none, as in stores of earlier versions.
CREATE VIEW scoring_models AS
WITH models AS (
    SELECT model FROM run_models
    UNION
    SELECT model FROM stored_scores WHERE starts_with(model, 'ngram:')
)
SELECT model, setup_id FROM models LEFT JOIN (FROM run_setups WHERE use = 'score') USING (model);

-- scores: a row is how probable a model finds an entity in the gap of a context, or why that is not known: under the
-- model's present setup, of what the data set holds now. What the publisher says of an entity is what he says now.
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
WHERE d.dataset IS NULL OR (c.dataset IS NOT NULL AND e.dataset IS NOT NULL AND is_of_gender(e.gender, c.gender));

-- representations: a row is the vector of an entity at a layer of a model of the run, or why there is none.
CREATE VIEW representations AS
SELECT r.*
FROM stored_representations AS r
SEMI JOIN run_models AS m ON r.model = m.model
LEFT JOIN run_setups AS u ON u.use = 'represent' AND r.model = u.model
LEFT JOIN datasets AS d ON r.dataset = d.dataset
LEFT JOIN dataset_entities AS e ON r.entity_id = e.entity_id
WHERE r.setup_id IS NOT DISTINCT FROM u.setup_id AND (d.dataset IS NULL OR e.dataset IS NOT NULL);

-- cultural_links: a row is what an entity of a data set means in Wikidata, by the linker, or why nothing.
CREATE VIEW cultural_links AS SELECT * FROM stored_cultural_links;

-- swap_answers: a row is what a model said of a context with an entity in its gap, under the run's present prompts and
-- the model's present setup, of what the data set holds now. The right sentiment is the one that the data set says now.
CREATE VIEW swap_answers AS
SELECT s.* REPLACE (
    CASE WHEN s.task = 'sentiment' AND d.dataset IS NOT NULL THEN c.sentiment ELSE s.gold END AS gold,
    CASE WHEN s.task = 'sentiment' AND d.dataset IS NOT NULL THEN (s.answer = c.sentiment)::BIGINT ELSE s.matched END
        AS matched
)
FROM stored_swap_answers AS s
LEFT JOIN run_setups AS u ON u.use = 'answer' AND s.model = u.model
LEFT JOIN datasets AS d ON s.dataset = d.dataset
LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
LEFT JOIN dataset_entities AS e ON s.entity_id = e.entity_id
WHERE s.prompt_id IN (SELECT prompt_id FROM run_swap_prompts)
    AND (s.instrument <> 'prompt' OR s.model IN (SELECT model FROM run_models))
    AND s.setup_id IS NOT DISTINCT FROM u.setup_id
    AND (d.dataset IS NULL OR (
        c.dataset IS NOT NULL AND e.dataset IS NOT NULL AND is_of_gender(e.gender, c.gender)
        AND (s.task <> 'sentiment' OR c.sentiment IS NOT NULL)
    ));

-- purchases: a row is an answer that this run bought, whether it still counts or not, and whether it was of use or not.
CREATE VIEW purchases AS
WITH bought AS (
    SELECT
        'generate' AS stage, model, language, topic, model AS asked, purchase, status, prompt_tokens, completion_tokens
    FROM stored_responses WHERE purchase IS NOT NULL
    UNION ALL
    SELECT 'extract', model, language, topic, extractor_model, purchase, status, prompt_tokens, completion_tokens
    FROM stored_extractions WHERE purchase IS NOT NULL
    UNION ALL
    SELECT task, model, language, entity_type, model, purchase, status, prompt_tokens, completion_tokens
    FROM stored_swap_answers WHERE purchase IS NOT NULL
    UNION ALL
    SELECT 'score', model, language, entity_type, model, purchase, status, prompt_tokens, completion_tokens
    FROM stored_scores WHERE purchase IS NOT NULL
)
SELECT bought.*,
    (coalesce(prompt_tokens, 0) * input + coalesce(completion_tokens, 0) * output) / 1e6
        * CASE WHEN purchase = 'batch' THEN 1 - batch_discount ELSE 1 END AS cost
FROM bought LEFT JOIN run_prices AS price ON price.model = bought.asked;

-- spending: a row is what a stage has bought for a job from a model, and what that cost.
CREATE VIEW spending AS
SELECT stage, model, language, topic, asked, purchase,
    count(*) FILTER (WHERE status = 'ok') AS answers,
    count(*) FILTER (WHERE status NOT IN ('ok', 'unusable')) AS failed,
    count(*) FILTER (WHERE status = 'unusable') AS unusable,
    coalesce(sum(prompt_tokens), 0)::BIGINT AS prompt_tokens,
    coalesce(sum(completion_tokens), 0)::BIGINT AS completion_tokens,
    sum(cost) AS cost
FROM purchases GROUP BY ALL;
