-- The names of a snapshot, without those of `pages` (members.sql), sorted by their lookup columns.

-- names: a row is a label ('label') or an alias ('alias') of an item; `normalised` as by link/normalise.py. A name that is both
-- is a label ('label' > 'alias').
CREATE TABLE snapshot.names AS
SELECT item, language, name, kind, normalised
FROM draft.names ANTI JOIN repeated USING (item) ANTI JOIN pages USING (item)
UNION ALL
SELECT item, language, name, max(kind), normalised
FROM draft.names SEMI JOIN repeated USING (item) ANTI JOIN pages USING (item)
GROUP BY item, language, name, normalised
ORDER BY language, normalised, item, name;

-- keys: a row is a name with its key (link/keys.py), where that is not the normal form.
CREATE TABLE snapshot.keys AS
SELECT item, language, name, max(kind) AS kind, key
FROM draft.names ANTI JOIN pages USING (item)
WHERE key <> normalised
GROUP BY item, language, name, key
ORDER BY language, key, item, name;
