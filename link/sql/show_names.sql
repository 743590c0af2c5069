-- A row is a language in which the item has names.
SELECT
    language,
    min(name) FILTER (kind = 'label') AS label,
    coalesce(string_agg(name, ', ' ORDER BY name) FILTER (kind = 'alias'), '') AS aliases
FROM wikidata.names
WHERE item = $item
GROUP BY language
ORDER BY language
