-- classes and metaclasses, distance 0: the roots and the types themselves.
INSERT INTO classes
SELECT scope, item, 0 AS distance, [item] AS path
FROM roots ANTI JOIN stops USING (scope, item);

INSERT INTO metaclasses
SELECT scope, item, 0 AS distance, [item] AS path
FROM types ANTI JOIN stops USING (scope, item);
