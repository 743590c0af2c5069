-- cell_doubts: a row is a cell; its mentions that are not linked (ambiguous, without a candidate or a path, or awaiting their
-- look-up), counted as `incidences` are: each surface once per response that mentions it. Whether a comparison would turn,
-- were some of them linked, can be told from these. A surface is one with its dictionary form and English name, as the
-- linker looks it up. 0 where all mentions are linked.
--   unlinked: pairs of a response and a surface that it mentions and that is not linked
--   unlinked_specific: sum of their labels: of a surface with both in a response the mean of its mentions there
--   unlinked_surfaces: distinct surfaces among them: each may be an item of its own
CREATE VIEW cell_doubts AS
WITH unlinked AS (
    SELECT cell, prompt, sample, query, mean_label(count(*) FILTER (granularity = 1), count(*)) AS specific
    FROM numbered_mentions ANTI JOIN (SELECT query FROM links WHERE status = 'linked') USING (query)
    WHERE counts
    GROUP BY ALL
)
SELECT
    c.model, c.language, c.topic, c.condition, c.country, c.wording,
    count(u.query) AS unlinked, coalesce(sum(u.specific), 0)::DOUBLE AS unlinked_specific,
    count(DISTINCT u.query) AS unlinked_surfaces
FROM numbered_cells AS c
LEFT JOIN unlinked AS u USING (cell)
GROUP BY ALL;

-- highest_share: the greatest share that `part` of `whole` may become with `more` unlinked mentions that belong to the part.
-- Each makes an item more, or is one mention more of an item that is there, and then changes its label by a half at most.
CREATE MACRO highest_share(part, whole, more) AS
    least(1, greatest((part + more / 2) / whole, (part + more) / (whole + more)));

-- cell_bounds: a row of `cell_values`, with the least and the greatest number that could stand there, were all mentions
-- linked that are not: each to whatever item lowers it most, or raises it most. NULL where the number is, and for the
-- companions of diversity. A surface that is mentioned several times in a response is taken for as many items there, so
-- that shares may be bounded a little too widely, and never too narrowly.
--   responses: responses that the number rests on; of a gain and of consensus, those of both sides
--   incidences: pairs of a response and a linked item that it mentions; of a gain and of consensus, those of both
--     sides
--   lowest: the least number that could stand here, were all unlinked mentions linked
--   highest: the greatest number that could stand here, were all unlinked mentions linked
CREATE VIEW cell_bounds AS
WITH unlinked AS MATERIALIZED ( -- `surfaces`: each may turn out to be an item of its own
    SELECT
        cell,
        count(*) AS surfaces, sum(mentions) AS mentions, sum(specific) AS specific
    FROM cell_surfaces
    WHERE status IS DISTINCT FROM 'linked'
    GROUP BY cell
),
lacking AS MATERIALIZED (
    SELECT
        c.model, c.language, c.topic, c.condition, c.country, c.wording,
        coalesce(u.surfaces, 0) AS surfaces, coalesce(u.mentions, 0) AS mentions, coalesce(u.specific, 0) AS specific
    FROM numbered_cells AS c
    LEFT JOIN unlinked AS u USING (cell)
),
shares AS MATERIALIZED (
    SELECT
        s.model, s.language, s.topic, s.condition, s.country, s.wording, s.specificity,
        s.associated / nullif(s.incidences + l.mentions, 0) AS lowest,
        (s.associated + l.mentions) / nullif(s.incidences + l.mentions, 0) AS highest
    FROM country_shares AS s
    INNER JOIN lacking AS l
        ON s.model = l.model AND s.language = l.language AND s.topic = l.topic AND s.condition = l.condition
        AND s.wording = l.wording AND (s.country = l.country OR l.country IS NULL)
),
pairs AS (
    SELECT
        c.model, c.language, c.other_language, c.topic, c.condition, c.country, c.wording, c.shared,
        c.entities - c.shared AS alone, c.other_entities - c.shared AS other_alone,
        a.surfaces, b.surfaces AS other_surfaces
    FROM consensus AS c
    INNER JOIN lacking AS a
        ON c.model = a.model AND c.language = a.language AND c.topic = a.topic AND c.condition = a.condition
        AND c.country IS NOT DISTINCT FROM a.country AND c.wording = a.wording
    INNER JOIN lacking AS b
        ON c.model = b.model AND c.other_language = b.language AND c.topic = b.topic AND c.condition = b.condition
        AND c.country IS NOT DISTINCT FROM b.country AND c.wording = b.wording
),
bounds AS (
    SELECT
        'diversity' AS metric, d.model, d.language, NULL AS other_language, d.topic, d.condition, d.country,
        d.wording, d.diversity AS lowest, d.diversity + l.surfaces AS highest
    FROM cell_diversity AS d
    INNER JOIN lacking AS l
        ON d.model = l.model AND d.language = l.language AND d.topic = l.topic AND d.condition = l.condition
        AND d.country IS NOT DISTINCT FROM l.country AND d.wording = l.wording
    UNION ALL
    SELECT
        'granularity', g.model, g.language, NULL, g.topic, g.condition, g.country, g.wording,
        1 - highest_share(g.incidences - g.specific, g.incidences, l.mentions - l.specific),
        highest_share(g.specific, g.incidences, l.specific)
    FROM granularity AS g
    INNER JOIN lacking AS l
        ON g.model = l.model AND g.language = l.language AND g.topic = l.topic AND g.condition = l.condition
        AND g.country IS NOT DISTINCT FROM l.country AND g.wording = l.wording
    WHERE g.incidences > 0
    UNION ALL
    SELECT 'specificity', model, language, NULL, topic, condition, country, wording, lowest, highest FROM shares
    UNION ALL
    SELECT
        'specificity_gain', e.model, e.language, NULL, e.topic, e.condition, e.country, e.wording,
        e.lowest - n.highest, e.highest - n.lowest
    FROM shares AS e
    INNER JOIN shares AS n USING (model, language, topic, country, wording)
    WHERE e.condition <> 'neutral' AND n.condition = 'neutral'
    UNION ALL
    -- At worst every unlinked surface is an item that the other language does not name. At best it is one that only the
    -- other names; and what is left on both sides is the same.
    SELECT
        'consensus', model, language, other_language, topic, condition, country, wording,
        shared / nullif(shared + alone + other_alone + surfaces + other_surfaces, 0),
        (shared + least(surfaces, other_alone) + least(other_surfaces, alone) + both_new)
        / nullif(shared + alone + other_alone + both_new, 0)
    FROM (
        SELECT *, least(greatest(surfaces - other_alone, 0), greatest(other_surfaces - alone, 0)) AS both_new
        FROM pairs
    )
)
SELECT
    v.*,
    CASE WHEN v.estimate IS NOT NULL THEN b.lowest END AS lowest,
    CASE WHEN v.estimate IS NOT NULL THEN b.highest END AS highest
FROM cell_values AS v
LEFT JOIN bounds AS b
    ON v.metric = b.metric AND v.model = b.model AND v.language = b.language
    AND v.other_language IS NOT DISTINCT FROM b.other_language AND v.topic = b.topic AND v.condition = b.condition
    AND v.country IS NOT DISTINCT FROM b.country AND v.wording = b.wording;
