-- unmatched: a row is a query without a candidate in one of its scopes.
CREATE OR REPLACE TABLE unmatched AS
SELECT query.query, query.query_group, query.lookup, query_group.language
FROM queries AS query
JOIN query_groups AS query_group USING (query_group)
ANTI JOIN (FROM found JOIN query_group_scopes USING (query_group) JOIN members USING (scope, item)) AS matched
    ON matched.query = query.query;
