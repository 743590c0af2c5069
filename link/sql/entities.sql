-- A row is a linked item: its labels in all languages, an English description, its sitelinks (NULL where they are unknown).
WITH label AS (
    SELECT name.item, name.language, min(name.name) AS name
    FROM linked JOIN wikidata.names AS name USING (item)
    WHERE name.kind = 'label'
    GROUP BY name.item, name.language
),
labels AS (
    SELECT item, map_from_entries(list_sort(list((language, name)))) AS labels
    FROM label
    GROUP BY item
)
SELECT
    'Q' || linked.item AS qid,
    coalesce(labels['en'], labels['mul'], map_values(labels)[1], 'Q' || linked.item) AS label,
    coalesce(labels, MAP {}) AS labels,
    description.description,
    item.sitelinks,
    item.revision
FROM linked
LEFT JOIN labels USING (item)
LEFT JOIN wikidata.items AS item ON item.item = linked.item
LEFT JOIN wikidata.descriptions AS description ON description.item = linked.item AND description.language = 'en'
ORDER BY linked.item
