-- The rows of a starter that were made from a snapshot, beside those written by hand: `own_items` and `own_names`. Of an item that
-- is written by hand they add names, as aliases.

-- made_names: a row is a name. A label written by hand leads to its item alone: others written by hand, and made ones that count, have
-- no such name.
CREATE TABLE made_names AS
SELECT name.item, name.language, name.name, CASE WHEN own.item IS NULL THEN name.kind ELSE 'alias' END AS kind, name.normalised, name.key
FROM names AS name
JOIN items AS item USING (item)
LEFT JOIN own_items AS own USING (item)
ANTI JOIN own_names AS same ON (same.item, same.language, same.name) = (name.item, name.language, name.name)
ANTI JOIN own_names AS label
    ON label.kind = 'label' AND (label.language, label.normalised) = (name.language, name.normalised)
    AND (own.item IS NOT NULL OR item.role = 'entity')
ORDER BY name.item, name.language, name.name;

CREATE TABLE made_items AS SELECT item, sitelinks, NULL::UBIGINT AS revision FROM items ANTI JOIN own_items USING (item);
CREATE TABLE made_claims AS SELECT item, property, target, ended FROM claims ANTI JOIN own_items USING (item);
