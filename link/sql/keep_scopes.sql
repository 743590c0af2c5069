-- What a snapshot keeps of the scopes of the catalogue's topics, so that linking need not climb classes each time.

-- scope_classes: a row is a class below a root of a scope; columns as in `classes` (`ontology.sql`).
CREATE TABLE snapshot.scope_classes AS FROM classes ORDER BY scope, item;

-- scope_members: a row is an item that reaches a scope.
CREATE TABLE snapshot.scope_members AS FROM members ORDER BY scope, item;
