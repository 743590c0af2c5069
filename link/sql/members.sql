-- What reaches the scopes of kinds, from `classes` (a row is a class below a root of a scope, with the shortest path to the root,
-- both included) and `scopes` (`occupation` is the scope of the occupations that its persons must have; the scope of Wikimedia
-- pages is -1, and those of occupations are below).

-- pages: a row is an item that is a Wikimedia page and nothing else: all its classes (P31) are.
CREATE TABLE pages AS
SELECT claim.item
FROM wikidata.claims AS claim
LEFT JOIN (FROM classes WHERE scope = -1) AS page ON page.item = claim.target
WHERE claim.property = 'P31'
GROUP BY claim.item
HAVING count(page.item) = count(*)
ORDER BY claim.item;

-- Wikidata has a list of pancake houses below pancake.
DELETE FROM classes USING pages WHERE classes.item = pages.item AND classes.scope <> -1;

-- other_occupations: a row is a person who has occupations (P106), but none that the scope requires.
CREATE TEMP TABLE other_occupations AS
SELECT scopes.scope, claim.item
FROM scopes
JOIN wikidata.claims AS claim ON claim.property = 'P106' AND scopes.occupation IS NOT NULL
LEFT JOIN classes AS trade ON trade.scope = scopes.occupation AND trade.item = claim.target
GROUP BY scopes.scope, claim.item
HAVING count(trade.item) = 0;

-- members: a row is an item that reaches a scope: as an instance of one of its classes, or as a class, as the kind requires.
-- `path` leads from the item's class to the root, without the item: `distance` items.
CREATE TABLE members AS
SELECT
    scope, item, min(distance) AS distance,
    min_by(coalesce(path[-1], item), (distance, coalesce(path[1], 0))) AS root,
    min_by(path, (distance, coalesce(path[1], 0))) AS path
FROM (
    SELECT class.scope, claim.item, class.distance + 1 AS distance, class.path
    FROM wikidata.claims AS claim
    JOIN classes AS class ON class.item = claim.target
    JOIN scopes USING (scope)
    ANTI JOIN other_occupations AS other ON other.scope = class.scope AND other.item = claim.item
    ANTI JOIN pages ON pages.item = claim.item
    WHERE claim.property = 'P31' AND scopes.members <> 'classes' AND class.distance < scopes.max_distance
    UNION ALL
    SELECT class.scope, class.item, class.distance, class.path[2:] AS path
    FROM classes AS class
    JOIN scopes USING (scope)
    SEMI JOIN wikidata.items AS item ON item.item = class.item
    WHERE scopes.members <> 'instances'
) AS way
WHERE scope >= 0
GROUP BY scope, item
ORDER BY scope, item;
DROP TABLE other_occupations;
