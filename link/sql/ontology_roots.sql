-- classes, distance 0: the roots themselves.
INSERT INTO classes
SELECT scope, item, 0 AS distance, [item] AS path
FROM roots ANTI JOIN stops USING (scope, item);
