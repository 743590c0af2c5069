-- model_likelihoods: a row is a scored entity in a context, with its likelihood under each rule and the genders that the data
-- set gives now. A unit is what translations share: of an entity its English form. A context with help is known by the plain
-- one's id.
CREATE OR REPLACE TEMP TABLE model_likelihoods AS
SELECT
    s.model, s.dataset, s.language, s.culture, s.entity_type, s.form,
    s.setting, coalesce(s.phrasing, '') AS phrasing, coalesce(s.context_prefix, '') AS context_prefix,
    coalesce(s.base_context_id, s.context_id) AS context_id, c.unit AS context_unit,
    s.entity_id, lower(coalesce(s.english, s.entity)) AS entity_unit, s.native,
    s.log_probability AS sum, s.log_probability / s.tokens AS mean,
    mean_probability(s.token_log_probabilities) AS probability,
    coalesce(c.gender, '') AS context_gender, coalesce(e.gender, '') AS entity_gender
FROM scores AS s
LEFT JOIN dataset_contexts AS c ON s.context_id = c.context_id
LEFT JOIN dataset_entities AS e ON s.entity_id = e.entity_id
WHERE s.status = 'ok' AND s.model = $model
