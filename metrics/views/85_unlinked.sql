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
