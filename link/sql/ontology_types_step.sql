-- metaclasses: one more level: the subclasses of those at $distance, unless reached before.
INSERT INTO metaclasses
SELECT scope, item, $distance + 1 AS distance, list_prepend(item, min(path)) AS path
FROM (
    SELECT metaclass.scope, claim.item, metaclass.path
    FROM metaclasses AS metaclass
    JOIN wikidata.claims AS claim ON claim.target = metaclass.item AND claim.property = 'P279'
    JOIN scopes ON scopes.scope = metaclass.scope
    WHERE metaclass.distance = $distance AND metaclass.distance < scopes.max_distance
) AS step
ANTI JOIN metaclasses AS seen USING (scope, item)
ANTI JOIN stops USING (scope, item)
GROUP BY scope, item;
