-- looked_up: is a cell's set of items worth the name? Some response was read, and not all of its mentions await their
-- look-up.
CREATE MACRO looked_up(responses, mentions, awaiting) AS responses > 0 AND (mentions = 0 OR awaiting < mentions);

-- cell_diversity: a row is a cell; its row of `diversity`, without the length of its texts, which need not be read.
CREATE VIEW cell_diversity AS
WITH counts AS (
    SELECT
        cell,
        count(*) FILTER (linked > 0) AS diversity,
        count(*) FILTER (linked + ambiguous > 0) AS diversity_with_ambiguous,
        sum(responses)::BIGINT AS responses,
        sum(linked + ambiguous + no_candidate + no_path + awaiting)::BIGINT AS mentions,
        sum(linked)::BIGINT AS linked,
        sum(ambiguous)::BIGINT AS ambiguous,
        sum(awaiting)::BIGINT AS awaiting
    FROM numbered_items
    GROUP BY ALL
)
SELECT
    cell, model, language, topic, condition, country, wording,
    CASE WHEN looked_up(responses, mentions, awaiting) THEN diversity END AS diversity,
    CASE WHEN looked_up(responses, mentions, awaiting) THEN diversity_with_ambiguous END AS diversity_with_ambiguous,
    responses, mentions, linked, ambiguous, awaiting, coalesce(n.incidences, 0) AS incidences
FROM counts
INNER JOIN numbered_cells USING (cell)
LEFT JOIN linked_incidences AS n USING (cell);

-- diversity: a row is a cell; the number of distinct items that its mentions are linked to, with what it rests on. It
-- grows with the number of responses: compare cells of equal `responses`. It grows with the length of the texts, too,
-- which stands beside it: the mean number of `words` and `characters` of a response. 0 is a count; NULL when no response
-- was read, or none of the mentions was looked up yet (`awaiting`: how many were not). Texts are read each time it is
-- asked: `cell_diversity` has the counts alone.
CREATE VIEW diversity AS
SELECT d.* EXCLUDE (cell), l.words, l.characters
FROM cell_diversity AS d
LEFT JOIN cell_lengths AS l USING (cell);

-- lengths: a row is a model and a language: the length of a response, in words and in characters, the mean over its cells.
CREATE VIEW lengths AS
SELECT
    c.model, c.language, avg(l.words ORDER BY l.words) AS words, avg(l.characters ORDER BY l.characters) AS characters,
    count(l.characters) AS cells, count(*) - count(l.characters) AS missing
FROM numbered_cells AS c
LEFT JOIN cell_lengths AS l USING (cell)
GROUP BY c.model, c.language;
