-- A row is an item of `wanted` that reaches the scope of a kind: as an instance of one of its classes, or as a class, as the
-- kind requires. `path` is the path from the item's class to the root, without the item: `distance` items.
SELECT scope, item, min(distance) AS distance, min_by(path, (distance, coalesce(path[1], 0))) AS path
FROM (
    SELECT class.scope, claim.item, class.distance + 1 AS distance, class.path
    FROM (SELECT DISTINCT item FROM wanted) AS wanted
    JOIN wikidata.claims AS claim ON claim.item = wanted.item AND claim.property = 'P31'
    JOIN classes AS class ON class.item = claim.target
    JOIN scopes ON scopes.scope = class.scope AND NOT scopes.pages
    ANTI JOIN other_occupation('wanted') AS other ON other.scope = class.scope AND other.item = claim.item
    WHERE scopes.members <> 'classes' AND class.distance < scopes.max_distance
    UNION ALL
    SELECT class.scope, class.item, class.distance, class.path[2:] AS path
    FROM (SELECT DISTINCT item FROM wanted) AS wanted
    JOIN classes AS class ON class.item = wanted.item
    JOIN scopes ON scopes.scope = class.scope AND NOT scopes.pages
    WHERE scopes.members <> 'instances'
) AS way
GROUP BY scope, item
