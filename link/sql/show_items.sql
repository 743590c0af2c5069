-- A row is an item of `wanted`: its English label, its label in the first language of $chain that has one, and its English
-- description.
SELECT
    wanted.item,
    min_by(name.name, (list_position($english, name.language), name.name))
        FILTER (list_contains($english, name.language)) AS english,
    min_by(name.name, (list_position($chain, name.language), name.name))
        FILTER (list_contains($chain, name.language)) AS own,
    any_value(description.description) AS description
FROM wanted
LEFT JOIN (
    FROM wikidata.names WHERE kind = 'label' AND language IN (SELECT unnest(list_concat($english, $chain)))
) AS name ON name.item = wanted.item
LEFT JOIN wikidata.descriptions AS description ON description.item = wanted.item AND description.language = 'en'
GROUP BY wanted.item
