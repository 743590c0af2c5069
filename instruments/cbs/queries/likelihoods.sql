-- A row is a scored entity in a context of one unit, with its likelihood under each rule and the genders that the data set
-- gives now. A unit is what translations share: of an entity its English form. A context with help is known by the plain one's id. Calibrated is what was asked after
-- nothing, too.
WITH own AS (
    SELECT * FROM scores
    WHERE status = 'ok' AND model = $model AND dataset = $dataset AND language = $language AND culture = $culture
        AND entity_type = $entity_type AND form = $form
)
SELECT
    s.setting, coalesce(s.phrasing, '') AS phrasing, coalesce(s.context_prefix, '') AS context_prefix,
    coalesce(s.base_context_id, s.context_id) AS context_id, c.unit AS context_unit,
    s.entity_id, lower(coalesce(s.english, s.entity)) AS entity_unit, s.native,
    s.log_probability AS sum, s.log_probability / s.tokens AS mean,
    mean_probability(s.token_log_probabilities) AS probability,
    p.likelihood AS calibrated,
    coalesce(c.gender, '') AS context_gender, coalesce(e.gender, '') AS entity_gender
FROM own AS s
LEFT JOIN (
    SELECT score_id, context_id, likelihood FROM calibrated_likelihoods
    WHERE model = $model AND dataset = $dataset AND language = $language AND culture = $culture
        AND entity_type = $entity_type AND form = $form
) AS p ON s.score_id = p.score_id AND coalesce(s.base_context_id, s.context_id) = p.context_id
LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
LEFT JOIN dataset_entities AS e ON s.entity_id = e.entity_id
ORDER BY s.setting, s.context_id, s.entity_id
