-- classes: those that the snapshot keeps of its scopes.
INSERT INTO classes
SELECT kept_scopes.scope, class.item, class.distance, class.path
FROM wikidata.scope_classes AS class
JOIN kept_scopes ON kept_scopes.number = class.scope;
