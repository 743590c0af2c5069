-- cell_numbers: a row is a metric's number of a cell, or of two cells, as `measure` computed it last; no rows while the data have
-- changed since.
--   other_language: of a number of two languages the second one; else NULL
--   country: the country that the number is about; NULL where it is none
CREATE VIEW cell_numbers AS
SELECT
    metric, model, language, facets['other_language'] AS other_language, topic, condition, nullif(country, 'none') AS country,
    wording, estimate, units AS responses, n AS incidences
FROM numbers
WHERE measure = 'entities' AND level = 'cell';
