-- A topic's kinds in terms of Wikidata's classes. A scope is a set of roots with the rules for paths to them; kinds of
-- several topics may share one.

-- scopes: a row is a scope. `occupation` is the scope of the occupations that its persons must have, if any; `pages` marks
-- the scope of Wikimedia pages.
CREATE TABLE scopes (
    scope USMALLINT, members VARCHAR, part_of BOOLEAN, max_distance INTEGER, occupation USMALLINT, pages BOOLEAN
);

-- roots, stops, types: a row is a class where paths end, that no path may cross, or whose instances count as roots.
CREATE TABLE roots (scope USMALLINT, item UINTEGER);
CREATE TABLE stops (scope USMALLINT, item UINTEGER);
CREATE TABLE types (scope USMALLINT, item UINTEGER);

-- classes: a row is a class from which subclass-of alone (and part-of, where the topic allows it) reaches a root. `path` is
-- the shortest path from the class to the root, both included; of equally short paths the one with the smallest item at
-- the first fork.
CREATE TABLE classes (scope USMALLINT, item UINTEGER, distance INTEGER, path UINTEGER[]);

-- metaclasses: a row is a type, or a class from which subclass-of reaches one; columns as in `classes`.
CREATE TABLE metaclasses (scope USMALLINT, item UINTEGER, distance INTEGER, path UINTEGER[]);

-- kept_scopes: a row is a scope of which the snapshot keeps what reaches it, with its number there.
CREATE TABLE kept_scopes (scope USMALLINT, number USMALLINT);

-- other_occupation: a row is a person who has occupations (P106), but none that the scope requires.
CREATE MACRO other_occupation(people) AS TABLE
SELECT scopes.scope, claim.item
FROM query_table(people) AS person
JOIN wikidata.claims AS claim ON claim.item = person.item AND claim.property = 'P106'
JOIN scopes ON scopes.occupation IS NOT NULL
LEFT JOIN classes AS trade ON trade.scope = scopes.occupation AND trade.item = claim.target
GROUP BY scopes.scope, claim.item
HAVING count(trade.item) = 0;

-- only_pages: a row is an item of `items` whose only classes (P31) are Wikimedia pages.
CREATE MACRO only_pages(items) AS TABLE
SELECT claim.item
FROM (SELECT DISTINCT item FROM query_table(items)) AS asked
JOIN wikidata.claims AS claim ON claim.item = asked.item AND claim.property = 'P31'
LEFT JOIN (SELECT item FROM classes JOIN scopes USING (scope) WHERE pages) AS page ON page.item = claim.target
GROUP BY claim.item
HAVING count(page.item) = count(*);
