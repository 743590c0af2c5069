-- classes, one step further down: what stands directly below the classes at $distance and was not reached before.
INSERT INTO classes
SELECT scope, item, $distance + 1 AS distance, list_prepend(item, min_by(path, above)) AS path
FROM (
    SELECT class.scope, claim.item, class.item AS above, class.path
    FROM classes AS class
    JOIN wikidata.claims AS claim ON claim.target = class.item
    JOIN scopes ON scopes.scope = class.scope
    WHERE class.distance = $distance
      AND class.distance < scopes.max_distance
      AND (claim.property = 'P279' OR (claim.property = 'P361' AND scopes.part_of))
) AS step
ANTI JOIN classes AS seen USING (scope, item)
ANTI JOIN stops USING (scope, item)
GROUP BY scope, item;
