-- queries: a row is a surface within a query group, with its lookup, in a fixed order.
CREATE TABLE queries AS
SELECT (row_number() OVER (ORDER BY query_group, surface))::UINTEGER AS query, query_group, lookup, surface
FROM (SELECT lookup, surface, unnest(query_groups) AS query_group FROM lookups);
