-- What is a topic's kind in Wikidata's classes. A scope is a set of roots with the rules of the way to them; kinds of
-- several topics may share one.

-- scopes: a row is one scope.
CREATE TABLE scopes (scope USMALLINT, members VARCHAR, part_of BOOLEAN, max_distance INTEGER);

-- roots, stops: a row is a class that a way may end in, or may not touch.
CREATE TABLE roots (scope USMALLINT, item UINTEGER);
CREATE TABLE stops (scope USMALLINT, item UINTEGER);

-- classes: a row is a class from which a root is reached by subclass-of alone (and part-of, where the topic wants it).
-- `path` holds the shortest way, from the class up to the root, both included; of equally short ways the one with the
-- smallest item at the first fork.
CREATE TABLE classes (scope USMALLINT, item UINTEGER, distance INTEGER, path UINTEGER[]);
