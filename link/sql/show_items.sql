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
LEFT JOIN wikidata.names AS name ON name.item = wanted.item AND name.kind = 'label'
LEFT JOIN wikidata.descriptions AS description ON description.item = wanted.item AND description.language = 'en'
GROUP BY wanted.item
