-- A row is an item of `wanted` as a person reads it: its label in English, that in the first language of $chain which
-- has one, and what it is said to be, in English.
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
