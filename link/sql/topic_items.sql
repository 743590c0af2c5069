-- topic_items: a row is an item in a scope of some query.
CREATE OR REPLACE TABLE topic_items AS
SELECT DISTINCT item FROM members SEMI JOIN query_group_scopes USING (scope);
