-- A row is an entity of a type in a plain context of a place, in one reading of the data set: ours, or that as published; in
-- the columns of `likelihoods.sql` of CBS. It has its score and the genders that this reading gives. What stands in the files
-- again has the score of the same text, whichever row was asked.
WITH contexts AS (
    SELECT *, coalesce(repeats, context_id) AS first_id FROM stored_dataset_contexts WHERE dataset = $dataset
),
entities AS (
    SELECT
        *, coalesce(repeats, entity_id) AS first_id,
        CASE WHEN $as_published THEN published_gender ELSE gender END AS read_gender
    FROM stored_dataset_entities
    WHERE dataset = $dataset
),
texts AS (
    SELECT
        e.culture = c.culture AS native, c.first_id AS context_id, e.first_id AS entity_id,
        -- The score of the first row itself where it was asked.
        arg_min(
            {whole: s.log_probability, tokens: s.tokens, each: s.token_log_probabilities},
            (w.context_id <> c.first_id, s.entity_id <> e.first_id, s.score_id)
        ) AS score
    FROM stored_scores AS s
    INNER JOIN wanted_scores AS w USING (request_id, model, topic)
    INNER JOIN contexts AS c ON w.context_id = c.context_id
    INNER JOIN entities AS e ON s.entity_id = e.entity_id
    WHERE s.status = 'ok' AND s.model = $model AND c.context_prefix IS NULL AND c.phrasing IS NULL
        AND c.form = $form AND c.language = $language AND c.culture = $culture
        AND c.setting = $setting AND c.entity_type = $entity_type
    GROUP BY ALL
)
SELECT
    c.setting, '' AS phrasing, '' AS context_prefix, c.context_id, c.unit AS context_unit,
    e.entity_id, lower(coalesce(e.translation, e.entity)) AS entity_unit, t.native,
    t.score.whole AS sum, t.score.whole / t.score.tokens AS mean, mean_probability(t.score.each) AS probability,
    coalesce(c.gender, '') AS context_gender, coalesce(e.read_gender, '') AS entity_gender
FROM texts AS t
INNER JOIN contexts AS c ON t.context_id = c.first_id
INNER JOIN entities AS e ON t.entity_id = e.first_id
WHERE ($as_published OR NOT (c.left_out OR e.left_out OR (c.starts_with_gap AND c.form = 'causal')))
    AND is_of_gender(e.read_gender, c.gender)
    AND (c.source_language IS NULL OR list_contains(e.source_languages, c.source_language))
ORDER BY c.context_id, e.entity_id
