-- A row is a step on a shortest path to a root of $scope: from the item to a class of which it is an instance, from a class
-- to a superclass, or from a class to a metaclass of which it is an instance.
SELECT $item::UINTEGER AS item, class.item AS target
FROM classes AS class
JOIN wikidata.claims AS claim ON claim.item = $item AND claim.property = 'P31' AND claim.target = class.item
JOIN scopes ON scopes.scope = class.scope AND scopes.members <> 'classes'
WHERE class.scope = $scope AND class.distance = $distance - 1
UNION ALL
SELECT below.item, above.item
FROM classes AS below
JOIN wikidata.claims AS claim ON claim.item = below.item
JOIN classes AS above
    ON above.item = claim.target AND above.scope = below.scope AND above.distance = below.distance - 1
JOIN scopes ON scopes.scope = below.scope
WHERE below.scope = $scope
  AND below.distance <= $distance
  AND (claim.property = 'P279' OR (claim.property = 'P361' AND scopes.part_of))
  AND (below.item <> $item OR scopes.members <> 'instances')
UNION ALL
SELECT class.item, metaclass.item
FROM classes AS class
JOIN wikidata.claims AS claim ON claim.item = class.item AND claim.property = 'P31'
JOIN metaclasses AS metaclass
    ON metaclass.item = claim.target AND metaclass.scope = class.scope AND metaclass.distance = class.distance - 1
JOIN scopes ON scopes.scope = class.scope
ANTI JOIN stopped ON stopped.scope = class.scope AND stopped.item = class.item
WHERE class.scope = $scope
  AND class.distance <= $distance
  AND (class.item <> $item OR scopes.members <> 'instances')
UNION ALL
SELECT below.item, above.item
FROM metaclasses AS below
JOIN wikidata.claims AS claim ON claim.item = below.item AND claim.property = 'P279'
JOIN metaclasses AS above
    ON above.item = claim.target AND above.scope = below.scope AND above.distance = below.distance - 1
WHERE below.scope = $scope AND below.distance <= $distance
ORDER BY ALL
