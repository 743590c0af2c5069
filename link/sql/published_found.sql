-- published_found: a row is a query with the item that a study linked it to. An item that was merged into another since is that
-- one.
CREATE TABLE published_found AS
SELECT query, coalesce(moved.target, qid[2:]::UINTEGER) AS item, label
FROM published
SEMI JOIN queries USING (query)
LEFT JOIN wikidata.redirects AS moved ON moved.item = qid[2:]::UINTEGER;

CREATE TABLE linked AS SELECT DISTINCT item FROM published_found;
