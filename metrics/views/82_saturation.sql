-- saturation: a row is a cell and a number of its responses: how many distinct items so many of them name, on average
-- over all ways to draw them (sample-based rarefaction), and what share of all mentions falls on these items (coverage), as
-- `measure` computed it last. A curve that still rises at its last point, which is the cell itself, says that more responses
-- would name more items.
--   responses: as many as are drawn from the cell's; the last point is all of them
--   entities: distinct items expected in them
--   coverage: share of all mentions that the model would make that fall on items of so many responses, 0 to 1
CREATE VIEW saturation AS
SELECT s.* EXCLUDE (inputs)
FROM stored_saturation AS s
SEMI JOIN run_measures AS m ON m.measure = 'entities' AND s.inputs = m.inputs;
