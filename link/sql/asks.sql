-- asks: a row is a surface under a heading, with its lookup, in a fixed order.
CREATE TABLE asks AS
SELECT (row_number() OVER (ORDER BY heading, surface))::UINTEGER AS ask, heading, lookup, surface
FROM (SELECT lookup, surface, unnest(headings) AS heading FROM lookups);
