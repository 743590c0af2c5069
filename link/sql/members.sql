-- members: a row is an item that reaches a scope. As in `ontology_items.sql`, without the path.
CREATE OR REPLACE TABLE members AS
SELECT class.scope, claim.item
FROM wikidata.claims AS claim
JOIN classes AS class ON class.item = claim.target
JOIN scopes ON scopes.scope = class.scope AND NOT scopes.pages
ANTI JOIN other_occupation('wikidata.items') AS other ON other.scope = class.scope AND other.item = claim.item
WHERE claim.property = 'P31' AND scopes.members <> 'classes' AND class.distance < scopes.max_distance
UNION
SELECT class.scope, class.item
FROM classes AS class
SEMI JOIN wikidata.items AS item ON item.item = class.item
JOIN scopes ON scopes.scope = class.scope AND NOT scopes.pages
WHERE scopes.members <> 'instances';
