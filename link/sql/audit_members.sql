-- gold_members: a row is an item of `gold_items` that belongs to a kind of its topic, which are the rows of `topic_scopes`.
CREATE TABLE gold_members AS
SELECT DISTINCT topic_scopes.topic, gold_reached.item
FROM gold_reached JOIN topic_scopes USING (scope);
