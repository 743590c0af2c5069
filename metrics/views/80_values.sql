-- cell_values: a row is a metric of a cell (for consensus: of a pair of cells), with what it rests on: responses, and
-- the incidences of linked items in them. NULL is a missing number, and has no
-- interval.
--   responses: responses that the number rests on; of a gain and of consensus, those of both sides
--   incidences: pairs of a response and a linked item that it mentions; of a gain and of consensus, those of both
--     sides
CREATE VIEW cell_values AS
SELECT
    'granularity' AS metric, model, language, NULL AS other_language, topic, condition, country, wording,
    granularity AS estimate, responses, incidences
FROM granularity
UNION ALL
SELECT 'linked_by_english', model, language, NULL, topic, condition, country, wording, linked_by_english, responses, incidences
FROM linked_by_english
UNION ALL
SELECT 'diversity', model, language, NULL, topic, condition, country, wording, diversity, responses, incidences
FROM cell_diversity
UNION ALL
SELECT 'specificity', model, language, NULL, topic, condition, country, wording, specificity, responses, incidences
FROM specificity
UNION ALL
SELECT
    'share_without_country', model, language, NULL, topic, condition, country, wording, share_without_country, responses,
    incidences
FROM countryless
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
LEFT JOIN cell_companions AS o USING (cell)
CROSS JOIN LATERAL (
    VALUES
        ('hill_1', o.hill_1), ('hill_2', o.hill_2), ('coverage', o.coverage), ('rarefied', o.rarefied)
) AS c (metric, estimate);

