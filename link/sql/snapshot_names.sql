-- The names of a snapshot, without those of `pages` (members.sql), sorted by their lookup columns.

-- A name that is both label and alias is kept as label ('label' > 'alias').
CREATE TABLE snapshot.names AS
SELECT item, language, name, kind, normalised
FROM part_names ANTI JOIN repeated USING (item) ANTI JOIN pages USING (item)
UNION ALL
SELECT item, language, name, max(kind), normalised
FROM part_names SEMI JOIN repeated USING (item) ANTI JOIN pages USING (item)
GROUP BY item, language, name, normalised
ORDER BY language, normalised, item, name;

CREATE TABLE snapshot.keys AS
SELECT item, language, name, max(kind) AS kind, key
FROM part_names ANTI JOIN pages USING (item)
WHERE key <> normalised
GROUP BY item, language, name, key
ORDER BY language, key, item, name;
