-- intervals: a row is a number with its 95 % intervals, as `polyculture measure` computed them from the store of that
-- time. `level` says what the number is of: 'cell', or the columns that an aggregate keeps ('model, language'). `low` and
-- `high` are of other samples of these prompts, `wordings_low` and `wordings_high` of other wordings and names.
CREATE VIEW intervals AS
SELECT * FROM stored_intervals WHERE model IN (SELECT model FROM run_models);

-- why_no_interval: the reason why a number has no interval; NULL where it has one, and where there is no number.
CREATE MACRO why_no_interval(estimate, method, withheld) AS
    CASE WHEN estimate IS NOT NULL AND method IS NULL THEN 'not measured' ELSE withheld END;

-- fewest_wordings: with fewer there is no interval of other wordings.
CREATE MACRO fewest_wordings() AS 3;

-- why_no_wordings_interval: the reason why a number has no interval of other wordings and names; NULL where it has one,
-- and where there is no number.
CREATE MACRO why_no_wordings_interval(estimate, wordings, low, withheld) AS CASE
    WHEN estimate IS NULL OR low IS NOT NULL THEN NULL
    WHEN wordings < fewest_wordings() THEN 'fewer than three wordings'
    ELSE coalesce(withheld, 'not measured')
END;

-- cell_values: a row is a metric of a cell (for consensus: of a pair of cells), with what it rests on: responses, and
-- the incidences of linked items in them. 'granularity_defined' is granularity, of `defined_topics` alone. NULL is a missing
-- number, and has no interval.
CREATE VIEW cell_values AS
SELECT
    'granularity' AS metric, model, language, NULL AS other_language, topic, condition, country, wording,
    granularity AS estimate, responses, incidences
FROM granularity
UNION ALL
SELECT 'granularity_defined', model, language, NULL, topic, condition, country, wording, granularity, responses, incidences
FROM granularity
WHERE topic IN (FROM defined_topics)
UNION ALL
SELECT 'diversity', model, language, NULL, topic, condition, country, wording, diversity, responses, incidences
FROM cell_diversity
UNION ALL
SELECT 'specificity', model, language, NULL, topic, condition, country, wording, specificity, responses, incidences
FROM specificity
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
LEFT JOIN diversity_companions AS o
    ON d.model = o.model AND d.language = o.language AND d.topic = o.topic AND d.condition = o.condition
    AND d.country IS NOT DISTINCT FROM o.country AND d.wording = o.wording
CROSS JOIN LATERAL (
    VALUES
        ('hill_1', o.hill_1), ('hill_2', o.hill_2), ('coverage', o.coverage), ('rarefied', o.rarefied),
        ('at_coverage', o.at_coverage)
) AS c (metric, estimate);

-- cell_metrics: a row of `cell_values` with its 95 % interval. An interval is of the data that it was computed from: it
-- is not shown where the number has changed since, or how many responses or incidences it rests on.
CREATE VIEW cell_metrics AS
SELECT v.*, i.low, i.high, i.method, why_no_interval(v.estimate, i.method, i.no_interval) AS no_interval
FROM cell_values AS v
LEFT JOIN (SELECT * FROM intervals WHERE level = 'cell') AS i
    ON v.metric = i.metric AND v.model = i.model AND v.language = i.language
    AND v.other_language IS NOT DISTINCT FROM i.other_language AND v.topic = i.topic AND v.condition = i.condition
    AND v.country IS NOT DISTINCT FROM i.country AND v.wording = i.wording
    AND abs(v.estimate - i.estimate) < 1e-9 AND v.responses = i.responses AND v.incidences = i.incidences;
