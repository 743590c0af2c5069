-- classes: one more level: the subclasses of the classes at $distance, and the instances of the metaclasses there that are
-- not directly below a stop, unless reached before. Types are excluded, though Wikidata calls type of dish a subclass of
-- dish.
INSERT INTO classes
SELECT scope, item, $distance + 1 AS distance, list_prepend(item, min(path)) AS path
FROM (
    SELECT class.scope, claim.item, class.path
    FROM classes AS class
    JOIN wikidata.claims AS claim ON claim.target = class.item
    JOIN scopes ON scopes.scope = class.scope
    WHERE class.distance = $distance
      AND class.distance < scopes.max_distance
      AND (claim.property = 'P279' OR (claim.property = 'P361' AND scopes.part_of))
    UNION ALL
    SELECT metaclass.scope, claim.item, metaclass.path
    FROM metaclasses AS metaclass
    JOIN wikidata.claims AS claim ON claim.target = metaclass.item AND claim.property = 'P31'
    JOIN scopes ON scopes.scope = metaclass.scope
    ANTI JOIN stopped ON stopped.scope = metaclass.scope AND stopped.item = claim.item
    WHERE metaclass.distance = $distance AND metaclass.distance < scopes.max_distance
) AS step
ANTI JOIN classes AS seen USING (scope, item)
ANTI JOIN stops USING (scope, item)
ANTI JOIN types USING (scope, item)
GROUP BY scope, item;
