-- What is a topic's kind in Wikidata's classes. A scope is a set of roots with the rules of the way to them; kinds of
-- several topics may share one.

-- scopes: a row is one scope. `occupation` is the scope of what its persons must do, where there is such a rule; `pages`
-- marks the scope of Wikimedia's pages.
CREATE TABLE scopes (
    scope USMALLINT, members VARCHAR, part_of BOOLEAN, max_distance INTEGER, occupation USMALLINT, pages BOOLEAN
);

-- roots, stops, types: a row is a class that a way may end in, may not touch, or whose instances are classes to end in.
CREATE TABLE roots (scope USMALLINT, item UINTEGER);
CREATE TABLE stops (scope USMALLINT, item UINTEGER);
CREATE TABLE types (scope USMALLINT, item UINTEGER);

-- classes: a row is a class from which a root is reached by subclass-of alone (and part-of, where the topic wants it).
-- `path` holds the shortest way, from the class up to the root, both included; of equally short ways the one with the
-- smallest item at the first fork.
CREATE TABLE classes (scope USMALLINT, item UINTEGER, distance INTEGER, path UINTEGER[]);

-- metaclasses: a row is one of the types, or a class from which one is reached by subclass-of; as in `classes`.
CREATE TABLE metaclasses (scope USMALLINT, item UINTEGER, distance INTEGER, path UINTEGER[]);

-- doing_else: a row is a person who by P106 does something, but nothing that a scope asks for.
CREATE MACRO doing_else(people) AS TABLE
SELECT scopes.scope, claim.item
FROM query_table(people) AS person
JOIN wikidata.claims AS claim ON claim.item = person.item AND claim.property = 'P106'
JOIN scopes ON scopes.occupation IS NOT NULL
LEFT JOIN classes AS trade ON trade.scope = scopes.occupation AND trade.item = claim.target
GROUP BY scopes.scope, claim.item
HAVING count(trade.item) = 0;

-- only_pages: a row is an item of `items` that by P31 is a page of Wikimedia's, and nothing else.
CREATE MACRO only_pages(items) AS TABLE
SELECT claim.item
FROM (SELECT DISTINCT item FROM query_table(items)) AS asked
JOIN wikidata.claims AS claim ON claim.item = asked.item AND claim.property = 'P31'
LEFT JOIN (SELECT item FROM classes JOIN scopes USING (scope) WHERE pages) AS page ON page.item = claim.target
GROUP BY claim.item
HAVING count(page.item) = count(*);
