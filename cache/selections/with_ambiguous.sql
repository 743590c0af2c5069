-- with_ambiguous: every table and view with ambiguous links taken as links to the first of their rivals.
CREATE VIEW stored_links AS
SELECT * REPLACE (CASE WHEN status = 'ambiguous' THEN 'linked' ELSE status END AS status) FROM main.stored_links;
