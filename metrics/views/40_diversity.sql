-- looked_up: is a cell's set of items worth the name? Some response was read, and not all of its mentions await their
-- look-up.
CREATE MACRO looked_up(responses, mentions, awaiting) AS responses > 0 AND (mentions = 0 OR awaiting < mentions);

-- cell_diversity: a row is a cell; its row of `diversity`, under its number.
CREATE VIEW cell_diversity AS
SELECT
    c.cell, c.model, c.language, c.topic, c.condition, c.country, c.wording,
    CASE WHEN looked_up(e.extracted, coalesce(m.mentions, 0), coalesce(m.awaiting, 0)) THEN coalesce(n.items, 0) END AS diversity,
    coalesce(e.extracted, 0) AS responses, coalesce(m.mentions, 0) AS mentions, coalesce(m.linked, 0) AS linked,
    coalesce(m.ambiguous, 0) AS ambiguous, coalesce(m.awaiting, 0) AS awaiting, coalesce(n.incidences, 0) AS incidences
FROM numbered_cells AS c
LEFT JOIN cell_extractions AS e USING (cell)
LEFT JOIN cell_mentions AS m USING (cell)
LEFT JOIN linked_incidences AS n USING (cell);

-- diversity: a row is a cell; the number of distinct items that its mentions are linked to, with what it rests on. It
-- grows with the number of responses: compare cells of equal `responses`. It grows with the length of the texts, too
-- (`lengths`). 0 is a count; NULL when no response was read, or none of the mentions was looked up yet (`awaiting`: how
-- many were not).
CREATE VIEW diversity AS SELECT * EXCLUDE (cell) FROM cell_diversity;
