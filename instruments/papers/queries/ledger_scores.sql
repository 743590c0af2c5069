-- A row is an entity in a plain context of a place, in one reading of the data set: ours, or that as published. It has its score
-- and the genders that this reading gives. What stands in the files again has the score of the same text, whichever row was
-- asked.
WITH contexts AS (
    SELECT *, coalesce(repeats, context_id) AS first_id FROM stored_dataset_contexts
    WHERE dataset = $dataset AND as_published IS NOT NULL
),
entities AS (
    SELECT
        *, coalesce(repeats, entity_id) AS first_id,
        CASE WHEN $as_published THEN published_gender ELSE gender END AS read_gender
    FROM stored_dataset_entities
    WHERE dataset = $dataset AND as_published IS NOT NULL
),
asked AS (
    SELECT s.* FROM stored_scores AS s
    SEMI JOIN scoring_models AS m ON s.model = m.model AND s.setup_id IS NOT DISTINCT FROM m.setup_id
    WHERE s.status = 'ok' AND s.context_prefix IS NULL AND s.phrasing IS NULL
        AND s.model = $model AND s.dataset = $dataset AND s.form = $form AND s.language = $language AND s.culture = $culture
        AND s.setting = $setting AND (len($types) = 0 OR list_contains($types, s.entity_type))
),
texts AS (
    SELECT
        s.entity_type, s.native,
        c.first_id AS context_id, e.first_id AS entity_id,
        -- The score of the first row itself where it was asked.
        arg_min(s.log_probability, (s.context_id <> c.first_id, s.entity_id <> e.first_id, s.score_id)) AS log_probability,
        arg_min(s.tokens, (s.context_id <> c.first_id, s.entity_id <> e.first_id, s.score_id)) AS tokens
    FROM asked AS s
    INNER JOIN contexts AS c ON s.context_id = c.context_id
    INNER JOIN entities AS e ON s.entity_id = e.entity_id
    GROUP BY ALL
)
SELECT
    t.entity_type, coalesce(c.gender, '') AS gender,
    c.context_id, coalesce(c.source_language, '') AS source_language, e.entity_id,
    t.native, t.log_probability, t.tokens, coalesce(e.read_gender, '') AS entity_gender
FROM texts AS t
INNER JOIN contexts AS c ON t.context_id = c.first_id
INNER JOIN entities AS e ON t.entity_id = e.first_id
WHERE ($as_published OR NOT (c.left_out OR e.left_out OR (c.starts_with_gap AND c.form = 'causal')))
    AND is_of_gender(e.read_gender, c.gender)
    AND (c.source_language IS NULL OR list_contains(e.source_languages, c.source_language))
ORDER BY ALL
