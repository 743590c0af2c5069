-- fuzzy_queries: a row is a query without any candidate, with one of its normal forms and the scope of its kind.
CREATE TABLE fuzzy_queries AS
SELECT query.query, query.query_group, query_group.language, own.scope, keys.fold, keys.key
FROM queries AS query
JOIN query_groups AS query_group USING (query_group)
JOIN query_group_scopes AS own ON own.query_group = query.query_group AND own.own
JOIN keys USING (lookup)
ANTI JOIN found ON found.query = query.query
WHERE length(keys.key) >= $shortest;
