-- Cultures' regions and resource levels, and flattening between them.

-- probe_cultures: a row is a culture of a data set, with its region and resource level; NULL where they are not known.
--   questions: questions, or question ids, that it rests on
CREATE VIEW probe_cultures AS
SELECT dataset, culture, any_value(region) AS region, any_value(level) AS level, count(DISTINCT question_id) AS questions
FROM probe_questions
GROUP BY ALL;

-- flattening_groups: a row is an ordered pair of resource levels or of regions: the mean score and share over the pairs
-- of different cultures, the first of `culture_group`, the second of `toward_group`.
--   grouping: 'level' of resources or 'region'
--   culture_group: level or region of the culture
--   toward_group: level or region of the culture whose items it shares
--   pairs: ordered pairs of different cultures
--   mean_score: the mean of F over these pairs
--   mean_share: the mean of F's share over these pairs
CREATE VIEW flattening_groups AS
WITH pairs AS (
    SELECT f.*, one.region, one.level, other.region AS toward_region, other.level AS toward_level
    FROM flattening AS f
    INNER JOIN probe_cultures AS one ON f.dataset = one.dataset AND f.culture = one.culture
    INNER JOIN probe_cultures AS other ON f.dataset = other.dataset AND f.toward = other.culture
),
grouped AS (
    SELECT p.*, g.grouping, g.culture_group, g.toward_group
    FROM pairs AS p,
        (VALUES ('level', p.level, p.toward_level), ('region', p.region, p.toward_region))
            AS g (grouping, culture_group, toward_group)
)
SELECT
    model, dataset, language, arm, filter, key, minimum, grouping, culture_group, toward_group, count(*) AS pairs,
    avg(score) AS mean_score, avg(share) AS mean_share
FROM grouped
WHERE culture_group IS NOT NULL AND toward_group IS NOT NULL
GROUP BY ALL;
