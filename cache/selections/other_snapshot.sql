-- other_snapshot: every table and view with the links of another snapshot, of which `compared_links` holds the rows.
-- compared_links: a row is a query as the compared snapshot links it; a temporary table of this name holds one snapshot's.
CREATE VIEW compared_links AS SELECT * FROM main.stored_snapshot_links;

CREATE VIEW stored_links AS
SELECT l.* REPLACE (c.status AS status, c.qid AS qid, NULL::VARCHAR AS matched, NULL::BOOLEAN AS only_english)
FROM main.stored_links AS l
INNER JOIN compared_links AS c USING (query);

CREATE VIEW stored_entity_countries AS
SELECT DISTINCT
    qid, unnest(countries) AS country, '' AS country_qid, 'snapshot' AS property, NULL::VARCHAR[] AS successors
FROM compared_links
WHERE qid IS NOT NULL;
