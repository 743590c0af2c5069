-- aggregate_level: the name of a level, from the columns that it keeps.
CREATE MACRO aggregate_level(by_language, by_pair, by_topic, by_condition, by_country) AS concat_ws(
    ', ', 'model',
    CASE WHEN by_language THEN 'language' END,
    CASE WHEN by_pair THEN 'other_language' END,
    CASE WHEN by_topic THEN 'topic' END,
    CASE WHEN by_condition THEN 'condition' END,
    CASE WHEN by_country THEN 'country' END
);

-- aggregate_values: a row is the mean of the numbers of `cells` cells, each with the same weight ("macro"), over what
-- `level` does not name: 'model, language' is a mean over topics, conditions, countries and wordings. No level names the
-- wording: 'model, language, topic, condition, country' is the mean over the wordings of one question. Cells whose number is
-- missing are left out and counted in `missing`; `conditions` are those that the mean is over. Specificity and its gain are
-- never averaged over conditions; the consensus of a language is its mean with all others. `responses` and `incidences` are
-- those of the group, each counted once: of a gain also the neutral ones, of a consensus those of cells that are in a pair,
-- for a pair of languages those of both, for a language its own. Numbers are added up in order, so that the last digit is
-- always the same.
--   responses: responses that the group rests on, each counted once
--   incidences: pairs of a response and a linked item that it mentions; each counted once
CREATE VIEW aggregate_values AS
WITH cell AS MATERIALIZED (SELECT * FROM cell_values),
grouped AS (
    SELECT
        metric, model, language, other_language, topic, condition, country,
        avg(estimate ORDER BY estimate) AS estimate, count(estimate) AS cells, count(*) - count(estimate) AS missing,
        sum(responses)::BIGINT AS responses, sum(incidences)::BIGINT AS incidences,
        string_agg(DISTINCT condition, ', ' ORDER BY condition) AS conditions, count(DISTINCT wording) AS wordings,
        grouping(language) = 0 AS by_language, grouping(other_language) = 0 AS by_pair, grouping(topic) = 0 AS by_topic,
        grouping(condition) = 0 AS by_condition, grouping(country) = 0 AS by_country
    FROM cell
    GROUP BY GROUPING SETS (
        (metric, model), (metric, model, condition), (metric, model, topic), (metric, model, topic, condition),
        (metric, model, language), (metric, model, language, condition), (metric, model, language, topic),
        (metric, model, language, topic, condition), (metric, model, language, condition, country),
        (metric, model, language, topic, condition, country),
        (metric, model, language, other_language), (metric, model, language, other_language, condition),
        (metric, model, language, other_language, topic), (metric, model, language, other_language, topic, condition),
        (metric, model, language, other_language, topic, condition, country)
    )
),
of_language AS (
    SELECT
        'consensus' AS metric, model, language, NULL AS other_language, topic, condition, NULL AS country,
        avg(estimate ORDER BY estimate) AS estimate, count(estimate) AS cells, count(*) - count(estimate) AS missing,
        NULL AS responses, NULL AS incidences, string_agg(DISTINCT condition, ', ' ORDER BY condition) AS conditions,
        count(DISTINCT wording) AS wordings, true AS by_language, false AS by_pair, grouping(topic) = 0 AS by_topic,
        grouping(condition) = 0 AS by_condition, false AS by_country
    FROM (
        SELECT model, unnest([language, other_language]) AS language, topic, condition, wording, estimate
        FROM cell
        WHERE metric = 'consensus'
    )
    GROUP BY GROUPING SETS (
        (model, language), (model, language, condition), (model, language, topic), (model, language, topic, condition)
    )
),
wanted AS (
    SELECT *
    FROM grouped
    WHERE CASE
        WHEN metric = 'consensus' THEN by_language = by_pair AND (by_pair OR NOT by_country)
        WHEN metric IN ('specificity', 'specificity_gain') THEN by_condition AND NOT by_pair
        ELSE NOT by_pair
    END
    UNION ALL
    SELECT * FROM of_language
),
in_pair AS (
    SELECT DISTINCT model, unnest([language, other_language]) AS language, topic, condition, country, wording
    FROM cell
    WHERE metric = 'consensus'
),
sized AS (
    FROM cell
    WHERE metric IN ('diversity', 'granularity_defined')
    UNION ALL BY NAME
    SELECT d.* REPLACE ('consensus' AS metric)
    FROM cell AS d
    INNER JOIN in_pair AS p
        ON d.model = p.model AND d.language = p.language AND d.topic = p.topic AND d.condition = p.condition
        AND d.country IS NOT DISTINCT FROM p.country AND d.wording = p.wording
    WHERE d.metric = 'diversity'
),
sizes AS MATERIALIZED (
    SELECT
        metric, model, language, topic, condition, country,
        sum(responses)::BIGINT AS responses, sum(incidences)::BIGINT AS incidences,
        grouping(language) = 0 AS by_language, grouping(topic) = 0 AS by_topic,
        grouping(condition) = 0 AS by_condition, grouping(country) = 0 AS by_country
    FROM sized
    GROUP BY GROUPING SETS (
        (metric, model), (metric, model, condition), (metric, model, topic), (metric, model, topic, condition),
        (metric, model, language), (metric, model, language, condition), (metric, model, language, topic),
        (metric, model, language, topic, condition), (metric, model, language, condition, country),
        (metric, model, language, topic, condition, country)
    )
),
levels AS (
    SELECT
        w.*,
        aggregate_level(by_language, by_pair, by_topic, by_condition, by_country) AS level,
        CASE WHEN metric IN ('consensus', 'granularity_defined') THEN metric ELSE 'diversity' END AS size_metric,
        CASE WHEN condition <> 'neutral' THEN country END AS size_country
    FROM wanted AS w
)
SELECT
    v.metric, v.level, v.model, v.language, v.other_language, v.topic, v.condition, v.country,
    v.estimate, v.cells, v.missing,
    v.conditions, v.wordings,
    -- A pair of languages has each of its responses in one cell only; of other groups they are in many.
    CASE WHEN by_pair THEN v.responses ELSE s.responses + coalesce(n.responses, 0) END AS responses,
    CASE WHEN by_pair THEN v.incidences ELSE s.incidences + coalesce(n.incidences, 0) END AS incidences
FROM levels AS v
LEFT JOIN sizes AS s
    ON v.size_metric = s.metric AND v.model = s.model AND v.by_language = s.by_language AND v.by_topic = s.by_topic
    AND v.by_condition = s.by_condition AND v.by_country = s.by_country
    AND v.language IS NOT DISTINCT FROM s.language AND v.topic IS NOT DISTINCT FROM s.topic
    AND v.condition IS NOT DISTINCT FROM s.condition AND v.size_country IS NOT DISTINCT FROM s.country
LEFT JOIN sizes AS n
    ON v.metric = 'specificity_gain' AND n.condition = 'neutral' AND v.size_metric = n.metric AND v.model = n.model
    AND v.by_language = n.by_language AND v.by_topic = n.by_topic AND n.by_condition AND v.by_country = n.by_country
    AND v.language IS NOT DISTINCT FROM n.language AND v.topic IS NOT DISTINCT FROM n.topic;

-- wording_means: a row is a wording of one of `aggregate_values`, with the mean of its numbers alone: over those cells that
-- have a number in all `wordings` of the group, so that every wording has the same cells (`cells`). `lacking` is the share
-- of the group's numbers that are of other cells. Without a row no cell has a number in all of them. `names_shared`: one of the
-- group's cells, in a pair of languages in either, has a person that stands in several wordings (`shared_names`).
--   estimate: the mean of the wording's numbers, over cells that have one in all `wordings`
--   cells: cells that have a number in all `wordings`
--   lacking: share of the group's numbers whose cells lack one in another wording, 0 to 1; with more than 0.05 there
--     is no interval of other wordings
--   names_shared: one of the group's cells has a person that stands in several wordings: there is no interval of
--     other wordings
CREATE VIEW wording_means AS
WITH cell AS MATERIALIZED (
    SELECT
        metric, model, language, other_language, topic, condition, country, wording, estimate,
        count(estimate) OVER (PARTITION BY metric, model, language, other_language, topic, condition, country) AS numbers,
        EXISTS (
            FROM shared_names AS s
            WHERE s.condition = v.condition AND s.country = v.country AND s.language IN (v.language, v.other_language)
        ) AS shared
    FROM cell_values AS v
),
grouped AS (
    SELECT
        metric, model, language, other_language, topic, condition, country, wording, numbers,
        sum(estimate ORDER BY estimate) AS total, count(estimate) AS cells, bool_or(shared) AS shared,
        grouping(language) = 0 AS by_language, grouping(other_language) = 0 AS by_pair, grouping(topic) = 0 AS by_topic,
        grouping(condition) = 0 AS by_condition, grouping(country) = 0 AS by_country
    FROM cell
    GROUP BY GROUPING SETS (
        (metric, model, wording, numbers), (metric, model, condition, wording, numbers),
        (metric, model, topic, wording, numbers), (metric, model, topic, condition, wording, numbers),
        (metric, model, language, wording, numbers), (metric, model, language, condition, wording, numbers),
        (metric, model, language, topic, wording, numbers),
        (metric, model, language, topic, condition, wording, numbers),
        (metric, model, language, condition, country, wording, numbers),
        (metric, model, language, topic, condition, country, wording, numbers),
        (metric, model, language, other_language, wording, numbers),
        (metric, model, language, other_language, condition, wording, numbers),
        (metric, model, language, other_language, topic, wording, numbers),
        (metric, model, language, other_language, topic, condition, wording, numbers),
        (metric, model, language, other_language, topic, condition, country, wording, numbers)
    )
),
of_language AS (
    SELECT
        'consensus' AS metric, model, language, NULL AS other_language, topic, condition, NULL AS country, wording, numbers,
        sum(estimate ORDER BY estimate) AS total, count(estimate) AS cells, bool_or(shared) AS shared,
        true AS by_language, false AS by_pair, grouping(topic) = 0 AS by_topic, grouping(condition) = 0 AS by_condition,
        false AS by_country
    FROM (
        SELECT model, unnest([language, other_language]) AS language, topic, condition, wording, numbers, estimate, shared
        FROM cell
        WHERE metric = 'consensus'
    )
    GROUP BY GROUPING SETS (
        (model, language, wording, numbers), (model, language, condition, wording, numbers),
        (model, language, topic, wording, numbers), (model, language, topic, condition, wording, numbers)
    )
),
wanted AS (
    SELECT *, aggregate_level(by_language, by_pair, by_topic, by_condition, by_country) AS level
    FROM grouped
    WHERE CASE
        WHEN metric = 'consensus' THEN by_language = by_pair AND (by_pair OR NOT by_country)
        WHEN metric IN ('specificity', 'specificity_gain') THEN by_condition AND NOT by_pair
        ELSE NOT by_pair
    END
    UNION ALL
    SELECT *, aggregate_level(by_language, by_pair, by_topic, by_condition, by_country) FROM of_language
),
counted AS (
    SELECT
        *,
        count(DISTINCT wording) OVER one AS wordings,
        sum(cells) OVER one AS all_cells,
        bool_or(shared) OVER one AS names_shared
    FROM wanted
    WINDOW one AS (PARTITION BY metric, level, model, language, other_language, topic, condition, country)
)
SELECT
    metric, level, model, language, other_language, topic, condition, country, wording,
    total / cells AS estimate, cells, wordings, 1 - wordings * cells / all_cells AS lacking, names_shared
FROM counted
WHERE numbers = wordings;

-- aggregates: a row of `aggregate_values` with its 95 % intervals. `low` and `high` are of other samples of these prompts:
-- NULL where they were not measured since the number, or what it rests on, changed, or where no interval would hold.
-- `wordings_low` and `wordings_high` are of other wordings and names: each wording's mean is one draw.
--   responses: responses that the group rests on, each counted once
--   incidences: pairs of a response and a linked item that it mentions; each counted once
--   wordings_low: lower limit of the 95 % interval of other wordings and names; NULL as `no_wordings_interval` says
CREATE VIEW aggregates AS
SELECT
    v.metric, v.level, v.model, v.language, v.other_language, v.topic, v.condition, v.country,
    v.estimate, i.low, i.high, i.method, why_no_interval(v.estimate, i.method, i.no_interval) AS no_interval,
    v.wordings, i.wordings_low, i.wordings_high,
    why_no_wordings_interval(v.estimate, v.wordings, i.wordings_low, i.no_wordings_interval) AS no_wordings_interval,
    v.cells, v.missing, v.conditions, v.responses, v.incidences
FROM (
    -- The mean over one wording is the number of its cell, and has its interval.
    SELECT *, CASE WHEN level LIKE '%topic, condition, country' AND cells + missing = 1 THEN 'cell' ELSE level END AS measured
    FROM aggregate_values
) AS v
LEFT JOIN intervals AS i
    ON v.metric = i.metric AND v.measured = i.level AND v.model = i.model
    AND v.language IS NOT DISTINCT FROM i.language AND v.other_language IS NOT DISTINCT FROM i.other_language
    AND v.topic IS NOT DISTINCT FROM i.topic AND v.condition IS NOT DISTINCT FROM i.condition
    AND v.country IS NOT DISTINCT FROM i.country AND abs(v.estimate - i.estimate) < 1e-9
    AND v.responses = i.responses AND v.incidences = i.incidences;

-- models: a row is a model: what the experiment file says of it, and its aggregates with their intervals, side by side: of
-- other samples of these prompts, and (`_wordings_`) of other wordings and names. Specificity and gain are those of prompts
-- that name the country; the others are means over all `conditions`.
--   conditions: the conditions that the means of granularity, diversity and consensus are over
--   granularity_defined_low: lower limit of the 95 % interval
--   granularity_defined_high: upper limit of the 95 % interval
--   granularity_defined: mean over the cells of `defined_topics`, without clothing, transportation and a user's own
--     topics
--   granularity_wordings_low: lower limit of the 95 % interval of other wordings and names
--   granularity_wordings_high: upper limit of the same
--   diversity_wordings_low: lower limit of the 95 % interval of other wordings and names
--   diversity_wordings_high: upper limit of the same
--   specificity_wordings_low: lower limit of the 95 % interval of other wordings and names
--   specificity_wordings_high: upper limit of the same
--   specificity_gain_wordings_low: lower limit of the 95 % interval of other wordings and names
--   specificity_gain_wordings_high: upper limit of the same
--   consensus_wordings_low: lower limit of the 95 % interval of other wordings and names
--   consensus_wordings_high: upper limit of the same
--   no_wordings_interval: why granularity has no interval of other wordings and names, as in `aggregates`
--   granularity_low: lower limit of the 95 % interval
--   granularity_high: upper limit of the 95 % interval
--   diversity_low: lower limit of the 95 % interval
--   diversity_high: upper limit of the 95 % interval
--   specificity_low: lower limit of the 95 % interval
--   specificity_high: upper limit of the 95 % interval
--   specificity_gain_low: lower limit of the 95 % interval
--   specificity_gain_high: upper limit of the 95 % interval
--   consensus_low: lower limit of the 95 % interval
--   consensus_high: upper limit of the 95 % interval
--   granularity: mean over all cells
--   diversity: mean over all cells
--   specificity: mean over the cells whose prompts name the country
--   specificity_gain: mean over the cells whose prompts name the country: specificity less that of the neutral cell
--   consensus: mean over all pairs of languages
--   dominance: mean over all cells of the share of responses that name the cell's most frequent item
--   dominance_low: lower limit of the 95 % interval
--   dominance_high: upper limit of the 95 % interval
CREATE VIEW models AS
SELECT
    run_models.model, f.origin, f.parameters, f.size, f.open,
    any_value(estimate) FILTER (metric = 'granularity') AS granularity,
    any_value(low) FILTER (metric = 'granularity') AS granularity_low,
    any_value(high) FILTER (metric = 'granularity') AS granularity_high,
    any_value(wordings_low) FILTER (metric = 'granularity') AS granularity_wordings_low,
    any_value(wordings_high) FILTER (metric = 'granularity') AS granularity_wordings_high,
    any_value(estimate) FILTER (metric = 'granularity_defined') AS granularity_defined,
    any_value(low) FILTER (metric = 'granularity_defined') AS granularity_defined_low,
    any_value(high) FILTER (metric = 'granularity_defined') AS granularity_defined_high,
    any_value(estimate) FILTER (metric = 'diversity') AS diversity,
    any_value(low) FILTER (metric = 'diversity') AS diversity_low,
    any_value(high) FILTER (metric = 'diversity') AS diversity_high,
    any_value(wordings_low) FILTER (metric = 'diversity') AS diversity_wordings_low,
    any_value(wordings_high) FILTER (metric = 'diversity') AS diversity_wordings_high,
    any_value(estimate) FILTER (metric = 'specificity') AS specificity,
    any_value(low) FILTER (metric = 'specificity') AS specificity_low,
    any_value(high) FILTER (metric = 'specificity') AS specificity_high,
    any_value(wordings_low) FILTER (metric = 'specificity') AS specificity_wordings_low,
    any_value(wordings_high) FILTER (metric = 'specificity') AS specificity_wordings_high,
    any_value(estimate) FILTER (metric = 'specificity_gain') AS specificity_gain,
    any_value(low) FILTER (metric = 'specificity_gain') AS specificity_gain_low,
    any_value(high) FILTER (metric = 'specificity_gain') AS specificity_gain_high,
    any_value(wordings_low) FILTER (metric = 'specificity_gain') AS specificity_gain_wordings_low,
    any_value(wordings_high) FILTER (metric = 'specificity_gain') AS specificity_gain_wordings_high,
    any_value(estimate) FILTER (metric = 'consensus') AS consensus,
    any_value(low) FILTER (metric = 'consensus') AS consensus_low,
    any_value(high) FILTER (metric = 'consensus') AS consensus_high,
    any_value(wordings_low) FILTER (metric = 'consensus') AS consensus_wordings_low,
    any_value(wordings_high) FILTER (metric = 'consensus') AS consensus_wordings_high,
    any_value(estimate) FILTER (metric = 'dominance') AS dominance,
    any_value(low) FILTER (metric = 'dominance') AS dominance_low,
    any_value(high) FILTER (metric = 'dominance') AS dominance_high,
    any_value(conditions) FILTER (metric = 'granularity') AS conditions,
    any_value(no_wordings_interval) FILTER (metric = 'granularity') AS no_wordings_interval,
    max(responses) AS responses,
    any_value(incidences) FILTER (metric = 'diversity') AS incidences
FROM run_models
LEFT JOIN run_model_facts AS f ON run_models.model = f.model
LEFT JOIN aggregates
    ON run_models.model = aggregates.model
    AND (
        (
            aggregates.level = 'model'
            AND aggregates.metric IN ('granularity', 'granularity_defined', 'diversity', 'consensus', 'dominance')
        )
        OR (
            aggregates.level = 'model, condition' AND aggregates.condition = 'explicit'
            AND aggregates.metric IN ('specificity', 'specificity_gain')
        )
    )
GROUP BY ALL;
