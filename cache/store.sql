-- The rows that count now: made for a prompt of the present experiment, by one of its models in its present setup, under
-- the present sampling settings and extractor. Rows made under other settings stay in the `stored_` views.

-- is_wrong_language: is the language that was detected another one than the prompt's? zh and zh-tw are one language here;
-- what the detector could not tell is not wrong.
CREATE MACRO is_wrong_language(detected, language) AS
    coalesce(split_part(detected, '-', 1) <> split_part(language, '-', 1), false);

-- is_wrong_script: are fewer than half of the letters in the scripts of the prompt's language?
CREATE MACRO is_wrong_script(script_share) AS coalesce(script_share < 0.5, false);

-- is_off_language: is a text in another language or script than the prompt's? The selection `right_language` is without it.
CREATE MACRO is_off_language(detected, language, script_share) AS
    is_wrong_language(detected, language) OR is_wrong_script(script_share);

-- is_refusal: did the provider's filter or its refusal field end the answer, or does the text decline in words?
CREATE MACRO is_refusal(finish_reason, refused) AS
    coalesce(finish_reason IN ('content_filter', 'refusal'), false) OR coalesce(refused, false);

-- prompts: a row is one filled-in question. A prompt that the file of imported texts does not say has no text.
CREATE VIEW prompts AS SELECT * REPLACE (nullif(text, '') AS text) FROM stored_prompts;

-- imported_files: a row is a file of texts that somebody else generated.
CREATE VIEW imported_files AS SELECT * FROM stored_imported_files;

-- imported_prompts: a row is a prompt that texts of an imported model answer, and how many.
CREATE VIEW imported_prompts AS SELECT * FROM stored_imported_prompts;

-- import_failures: a row is a row of an imported file that could not be taken, and the reason.
CREATE VIEW import_failures AS SELECT * FROM stored_import_failures;

-- published_links: a row is an item that an imported study linked a surface to, and how many of its mentions say so.
CREATE VIEW published_links AS SELECT * FROM stored_published_links;

-- prompt_reviews: a row is what a speaker of its language said of a template. Of templates that changed since, or are not
-- asked, no prompt has the `template_id`.
CREATE VIEW prompt_reviews AS SELECT * FROM stored_prompt_reviews;

-- wanted_responses: a row is a prompt as one of the run's models is asked it; its samples below `n` count, if they were
-- made under these sampling settings and this setup of the model: `sampling_id` is of both, and of the sentence that
-- stands behind the prompts of a language for this model alone.
CREATE VIEW wanted_responses AS
SELECT DISTINCT m.model, p.prompt_id, coalesce(a.sampling_id, m.sampling_id) AS sampling_id, run.n
FROM run_models AS m
CROSS JOIN prompts AS p
CROSS JOIN run
LEFT JOIN run_appended AS a ON a.model = m.model AND a.language = p.language;

-- wanted_extractions: a row is one of `wanted_responses` with an extractor whose work on them counts, and who reads its
-- answers.
CREATE VIEW wanted_extractions AS
SELECT w.*, extractor_id, reader_id
FROM wanted_responses AS w, (SELECT DISTINCT extractor_id, reader_id FROM run_extractors);

-- responses: a row is one sampled text, or a failure with its reason. Paid failures that were asked again stand in
-- `stored_responses`.
CREATE VIEW responses AS
SELECT r.*
FROM stored_responses AS r
SEMI JOIN wanted_responses AS w
    ON r.model = w.model AND r.prompt_id = w.prompt_id AND r.sampling_id = w.sampling_id AND r.sample < w.n
WHERE r.status <> 'unusable';

-- extractions: a row is what the extractor did with one response. Answers of no use, after which it was asked again,
-- stand in `stored_extractions`.
CREATE VIEW extractions AS
SELECT e.*
FROM stored_extractions AS e
SEMI JOIN wanted_extractions AS w
    ON e.model = w.model AND e.prompt_id = w.prompt_id AND e.sampling_id = w.sampling_id
    AND e.extractor_id = w.extractor_id AND e.reader_id IS NOT DISTINCT FROM w.reader_id AND e.sample < w.n
WHERE e.status <> 'unusable';

-- mentions: a row is a surface string found in a response; hallucinated ones and kinds that never count included.
CREATE VIEW mentions AS
SELECT m.*
FROM stored_mentions AS m
SEMI JOIN wanted_extractions AS w
    ON m.model = w.model AND m.prompt_id = w.prompt_id AND m.sampling_id = w.sampling_id
    AND m.extractor_id = w.extractor_id AND m.reader_id IS NOT DISTINCT FROM w.reader_id AND m.sample < w.n;

-- links: a row is what a surface means within a language, topic and kind, or why nothing.
CREATE VIEW links AS SELECT * FROM stored_links;

-- candidates: a row is an item that a surface may mean, and what became of it.
CREATE VIEW candidates AS SELECT * FROM stored_candidates;

-- entities: a row is a Wikidata item that at least one surface is linked to.
CREATE VIEW entities AS SELECT * FROM stored_entities;

-- entity_countries: a row is a country of an entity, with the property that says so.
CREATE VIEW entity_countries AS SELECT * FROM stored_entity_countries;

-- known_countries: a row is a country that the run's links were made with, and its region.
CREATE VIEW known_countries AS SELECT * FROM stored_known_countries;

-- bought_responses: a row is a response that this run bought, whether it still counts or not.
CREATE VIEW bought_responses AS
SELECT
    'generate' AS stage, model, language, topic, model AS asked, purchase, status, prompt_tokens, completion_tokens
FROM stored_responses WHERE purchase IS NOT NULL;

-- bought_extractions: a row is an answer of an extractor that this run bought, of use or not.
CREATE VIEW bought_extractions AS
SELECT
    'extract' AS stage, model, language, topic, extractor_model AS asked, purchase, status, prompt_tokens,
    completion_tokens
FROM stored_extractions WHERE purchase IS NOT NULL;

-- failed_responses: a row is a response that failed.
CREATE VIEW failed_responses AS
SELECT 'generate' AS stage, model, language, topic, error, retryable FROM responses WHERE status = 'failed';

-- failed_extractions: a row is an extraction that failed, or of which there are only answers of no use so far: its stage was
-- stopped, and it is asked again.
CREATE VIEW failed_extractions AS
SELECT 'extract' AS stage, model, language, topic, error, retryable FROM extractions WHERE status = 'failed'
UNION ALL
SELECT 'extract', u.model, u.language, u.topic, u.error, true
FROM (
    SELECT model, language, topic, response_id, extractor_id, arg_max(error, attempts) AS error
    FROM stored_extractions
    WHERE status = 'unusable'
    GROUP BY ALL
) AS u
SEMI JOIN run_extractors AS r ON u.extractor_id = r.extractor_id
SEMI JOIN responses AS p ON u.response_id = p.response_id
ANTI JOIN extractions AS e ON u.response_id = e.response_id;
