-- mean_probability: the logarithm of the mean probability of an entity's tokens, from their log-probabilities. Sorted, so that
-- the order of the same tokens breaks no tie; the largest is taken out, so that no small one vanishes.
CREATE MACRO mean_probability(each) AS CASE
    WHEN list_max(each) = '-infinity' THEN '-infinity'::DOUBLE
    ELSE list_max(each) + ln(list_avg(list_transform(list_sort(each), lambda one: exp(one::DOUBLE - list_max(each::DOUBLE[])))))
END;

-- likelihoods: a row is a scored entity in a context under one rule of `rule`: 'sum' is the log-probability of the whole
-- entity, 'mean' that per token, 'probability' the logarithm of the mean probability of its tokens. Failures are in `scores`, and
-- in no score. A context with help before it has the id of the plain one; `context_prefix` tells them apart.
CREATE VIEW likelihoods AS
SELECT
    model, dataset, language, culture, entity_type, setting, form, phrasing, context_prefix,
    coalesce(base_context_id, context_id) AS context_id, entity_id, entity, native,
    unnest(['sum', 'mean', 'probability']) AS rule,
    unnest([log_probability, log_probability / tokens, mean_probability(token_log_probabilities)]) AS likelihood
FROM scores
WHERE status = 'ok';

-- score_health: a row is what became of the entities of a type in their contexts.
--   failed: entities without a likelihood, once for each context
--   scored: entities with a likelihood, once for each context
--   impossible: of those: no probability at all, as an unsmoothed corpus gives what it does not hold
--   moved_space: of those: a space before the gap was moved to the entity, so that no token spans both
--   broken_boundaries: of those: a token spans context and entity (it is charged to the entity), or the context falls
--     into other tokens
CREATE VIEW score_health AS
SELECT
    model, dataset, language, culture, entity_type, form,
    count(*) FILTER (status = 'ok') AS scored,
    count(*) FILTER (status = 'failed') AS failed,
    count(*) FILTER (log_probability = '-infinity') AS impossible,
    count(*) FILTER (token_boundary = 'moved space') AS moved_space,
    count(*) FILTER (token_boundary IN ('merged', 'resplit')) AS broken_boundaries
FROM scores
GROUP BY ALL;

-- missing_scores: a row is what was asked of a type of entities, or of all types of a language and culture, or of all (NULL),
-- and how much of it has no score: a killed command leaves the numbers of an earlier one, over a part of what it asks.
--   asked: entities that were asked, once for each context
--   missing: of those: not scored yet, or failed for a reason that may pass
CREATE VIEW missing_scores AS
WITH scored AS (
    SELECT model, topic, context_id, count(*) AS scored FROM scores WHERE status = 'ok' OR NOT retryable GROUP BY ALL
)
SELECT
    w.model, c.dataset, c.form, c.language, c.culture, c.entity_type, sum(w.entities)::BIGINT AS asked,
    sum(greatest(w.entities - coalesce(s.scored, 0), 0))::BIGINT AS missing
FROM wanted_scores AS w
INNER JOIN dataset_contexts AS c USING (context_id)
LEFT JOIN scored AS s USING (model, topic, context_id)
GROUP BY GROUPING SETS (
    (model, dataset, form, language, culture, entity_type), (model, dataset, form, language, culture), (model, dataset, form)
);

-- cultural_entities: a row is an entity of a data set that was scored, with the Wikidata item that the linker or else
-- the publisher gives it (`qid`; NULL where neither does) and how probable the model finds it on average, over the plain contexts.
--   english: the publisher's translation of the entity
--   mean_log_probability: the entity's log-probability, averaged over its contexts
--   mean_per_token: the same, of the mean per token
CREATE VIEW cultural_entities AS
SELECT
    s.model, s.dataset, s.language, s.culture, s.entity_type, s.entity_culture, s.native, s.entity_id, s.entity,
    any_value(s.english) AS english,
    coalesce(
        any_value(l.qid) FILTER (l.status = 'linked'),
        any_value(s.publisher_qid)
    ) AS qid,
    avg(s.log_probability ORDER BY s.log_probability) AS mean_log_probability,
    avg(s.log_probability / s.tokens ORDER BY s.log_probability / s.tokens) AS mean_per_token,
    count(*) AS contexts
FROM scores AS s
LEFT JOIN cultural_links AS l USING (language, entity_type, entity)
WHERE s.status = 'ok' AND s.context_prefix IS NULL AND s.phrasing IS NULL
GROUP BY ALL;

-- cbs_scores: a row is a mean Cultural Bias Score under a rule, or a difference of two settings, phrasings or prefixes. NULL in
-- language, culture or entity_type: over all of them, where there are several.
--   rule: the likelihood of an entity: 'sum', 'mean', 'probability'
--   way: how the contexts were asked: setting, phrasing and prefix; of a difference, less the second side
--   other_setting: of a difference: the setting whose score is taken off
--   other_phrasing: of a difference: the phrasing whose score is taken off
--   plain: the difference is that to the same contexts without prefix
--   first: of a difference: the score of the first side, over what both have
--   second: the same of the second side
--   native_most: native entities with a likelihood in the context that has the most
--   western_most: the same of Western ones
--   lacking: why there is no interval, or no difference
--   types: types of entities that have such a row in the language and culture
--   places: languages and cultures that have such a row
--   incomplete: what was asked of these entities and has no score, in all settings: then the number is of a part
CREATE VIEW cbs_scores AS
WITH scores_and_differences AS (
    SELECT
        n.metric, n.method AS rule, n.model, n.dataset, nullif(n.language, '*') AS language,
        nullif(n.country, '*') AS culture, nullif(n.topic, '*') AS entity_type, n.condition AS setting,
        NULL AS other_setting, n.facets['phrasing'] AS phrasing, NULL AS other_phrasing,
        n.facets['context_prefix'] AS context_prefix, false AS plain, n.facets['form'] AS form,
        n.estimate, n.low, n.high, NULL::DOUBLE AS p, n.units AS contexts,
        n.sizes['native_entities'] AS native_entities, n.sizes['western_entities'] AS western_entities,
        n.sizes['native_fewest'] AS native_fewest, n.sizes['native_most'] AS native_most,
        n.sizes['western_fewest'] AS western_fewest, n.sizes['western_most'] AS western_most,
        n.n AS pairs, n.sizes['tied'] / n.n AS ties, n.no_interval AS lacking,
        n.sizes['tied'] AS tied, n.sizes['western_won'] AS western_won
    FROM numbers AS n
    WHERE n.measure = 'cbs' AND n.metric = 'cbs'
    UNION ALL BY NAME
    SELECT
        'cbs_difference' AS metric, method AS rule, model, dataset, nullif(language, '*') AS language,
        nullif(country, '*') AS culture, nullif(topic, '*') AS entity_type,
        CASE dimension WHEN 'condition' THEN a ELSE condition END AS setting,
        CASE dimension WHEN 'condition' THEN b END AS other_setting,
        CASE dimension WHEN 'phrasing' THEN a ELSE facets['phrasing'] END AS phrasing,
        CASE dimension WHEN 'phrasing' THEN b END AS other_phrasing,
        CASE dimension WHEN 'context_prefix' THEN a ELSE facets['context_prefix'] END AS context_prefix,
        dimension = 'context_prefix' AS plain, facets['form'] AS form, difference AS estimate, low, high, p,
        a_estimate AS first, b_estimate AS second, units AS contexts, reason AS lacking
    FROM differences
    WHERE measure = 'cbs' AND target = 'new_prompts' AND dimension IN ('condition', 'phrasing', 'context_prefix')
), whole_or_not AS (
    SELECT s.*, CASE WHEN m.missing > 0 THEN m.missing || ' of ' || m.asked || ' scores' END AS incomplete
    FROM scores_and_differences AS s
    LEFT JOIN missing_scores AS m
        ON s.model = m.model AND s.dataset = m.dataset AND s.form = m.form AND s.language IS NOT DISTINCT FROM m.language
        AND s.culture IS NOT DISTINCT FROM m.culture AND s.entity_type IS NOT DISTINCT FROM m.entity_type
)
SELECT *,
    concat_ws(', ', setting, phrasing, context_prefix)
        || coalesce(' - ' || CASE WHEN plain THEN 'plain' ELSE coalesce(other_setting, other_phrasing) END, '') AS way,
    count(DISTINCT entity_type) OVER (
        PARTITION BY metric, rule, model, dataset, form, setting, other_setting, phrasing, other_phrasing, context_prefix,
            plain, language, culture
    ) AS types,
    count(DISTINCT language || ' ' || culture) OVER (
        PARTITION BY metric, rule, model, dataset, form, setting, other_setting, phrasing, other_phrasing, context_prefix,
            plain
    ) AS places
FROM whole_or_not
-- What is over one type, or over one language, stands in that row already.
QUALIFY entity_type IS NOT NULL OR (language IS NOT NULL AND types > 1) OR (language IS NULL AND places > 1);

-- cbs_board_entries: a row is a model's Cultural Bias Score on a board. In neutral contexts nobody can say what the score
-- should be: they have no board. The papers' two rules have one: Camellia's sum, CAMeL's mean probability of tokens.
CREATE VIEW cbs_board_entries AS
SELECT
    'cbs' AS task, metric, 'low' AS goal, dataset, nullif(language, '*') AS language, nullif(country, '*') AS culture,
    nullif(topic, '*') AS entity_type, condition AS setting,
    concat_ws(', ', facets['form'], method, facets['phrasing'], facets['context_prefix']) AS variant,
    concat_ws(', ', facets['form'], facets['phrasing'], facets['context_prefix']) AS way,
    model, estimate, low, high, units AS contexts, sizes['native_entities'] AS native_entities,
    sizes['western_entities'] AS western_entities, sizes['native_fewest'] AS native_fewest,
    sizes['western_fewest'] AS western_fewest
FROM numbers
WHERE measure = 'cbs' AND metric = 'cbs' AND condition = 'grounded' AND method IN ('sum', 'probability')
    AND NOT starts_with(model, 'ngram:');

-- cbs_board_orders: a row is two models on a board, of which a paired difference tells that one is better: a low score is.
CREATE VIEW cbs_board_orders AS
SELECT
    'cbs' AS task, metric, dataset, nullif(language, '*') AS language, nullif(country, '*') AS culture,
    nullif(topic, '*') AS entity_type, condition AS setting,
    concat_ws(', ', facets['form'], method, facets['phrasing'], facets['context_prefix']) AS variant,
    CASE verdict WHEN 'lower' THEN a ELSE b END AS better, CASE verdict WHEN 'lower' THEN b ELSE a END AS worse
FROM differences
WHERE measure = 'cbs' AND dimension = 'model' AND target = 'new_prompts' AND verdict IN ('lower', 'higher');

-- cbs_board_failures: a row is a model of which nothing could be scored where others on the board were.
CREATE VIEW cbs_board_failures AS
SELECT
    'cbs' AS task, concat_ws(', ', form, phrasing, context_prefix) AS way, model, dataset, language, culture, entity_type, setting,
    count(*) AS failed, mode(error) AS reason
FROM scores
GROUP BY GROUPING SETS (
    (way, model, dataset, setting, language, culture, entity_type),
    (way, model, dataset, setting, language, culture),
    (way, model, dataset, setting)
)
HAVING count(*) FILTER (status = 'ok') = 0;
