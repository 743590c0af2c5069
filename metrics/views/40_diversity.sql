-- diversity: a row is a cell; the number of distinct items that its mentions are linked to, as in `numbers`, with what it
-- rests on. It grows with the number of responses: compare cells of equal `responses`. It grows with the length of the texts,
-- too (`lengths`). 0 is a count; NULL when no response was read, or none of the mentions was looked up yet (`awaiting`: how
-- many were not).
CREATE VIEW diversity AS
SELECT
    n.model, n.language, n.topic, n.condition, n.country, n.wording, n.estimate::BIGINT AS diversity, s.responses, s.mentions,
    s.linked, s.ambiguous, s.awaiting, s.incidences
FROM cell_numbers AS n
INNER JOIN cell_sizes AS s USING (cell)
WHERE n.metric = 'diversity';
