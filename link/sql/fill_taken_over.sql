-- What a snapshot says of items that it does not hold whole: what stands above them, or that nothing does.
INSERT INTO draft.bearers SELECT item, property, target FROM base.claims ANTI JOIN base.items USING (item);
INSERT INTO draft.bearers
SELECT DISTINCT hit.item, NULL, NULL
FROM (SELECT unnest(hits) AS item FROM base.fetched WHERE way = 'name') AS hit
ANTI JOIN base.items USING (item) ANTI JOIN draft.bearers AS known USING (item);
