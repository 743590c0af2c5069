-- A row is an item of `wanted` that reaches a scope: as in `ontology_items.sql`, without the path.
SELECT class.scope, claim.item
FROM (SELECT DISTINCT item FROM wanted) AS wanted
JOIN wikidata.claims AS claim ON claim.item = wanted.item AND claim.property = 'P31'
JOIN classes AS class ON class.item = claim.target
JOIN scopes ON scopes.scope = class.scope AND NOT scopes.pages
ANTI JOIN other_occupation('wanted') AS other ON other.scope = class.scope AND other.item = claim.item
WHERE scopes.members <> 'classes' AND class.distance < scopes.max_distance
UNION
SELECT class.scope, class.item
FROM (SELECT DISTINCT item FROM wanted) AS wanted
JOIN classes AS class ON class.item = wanted.item
JOIN scopes ON scopes.scope = class.scope AND NOT scopes.pages
WHERE scopes.members <> 'instances'
