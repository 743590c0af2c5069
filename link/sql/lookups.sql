-- The tables of what is looked up, from `given` (surfaces, perhaps repeated) and `scope_of` (the scope of each kind).
-- Strings are compared only here; later tables refer to them by number.

-- query_groups: a row is a (language, topic, kind) with something to link, in a fixed order.
CREATE TABLE query_groups AS
SELECT (row_number() OVER (ORDER BY topic, language, kind))::USMALLINT AS query_group, language, topic, kind
FROM (SELECT DISTINCT language, topic, kind FROM given)
SEMI JOIN scope_of USING (topic, kind);

-- query_group_scopes: a row is a scope in which the entity of a query may lie: that of its kind (`own`), or of another kind
-- of the topic, since what an extractor calls a dish may be an ingredient. `reached` is the kind of the scope.
CREATE TABLE query_group_scopes AS
SELECT query_group.query_group, other.scope::USMALLINT AS scope, own.scope = other.scope AS own,
    CASE WHEN own.scope = other.scope THEN query_group.kind ELSE other.kind END AS reached
FROM query_groups AS query_group
JOIN scope_of AS own USING (topic, kind)
JOIN (SELECT topic, scope, min_by(kind, place) AS kind FROM scope_of GROUP BY topic, scope) AS other USING (topic);

-- lookups: a row is a distinct surface within a language; `query_groups` are the groups with that surface.
CREATE TABLE lookups AS
SELECT (row_number() OVER ())::UINTEGER AS lookup, language, surface, query_groups
FROM (
    SELECT language, given.surface, list(DISTINCT query_group.query_group) AS query_groups
    FROM given JOIN query_groups AS query_group USING (language, topic, kind)
    GROUP BY language, given.surface
);

-- unsearched: a row is a lookup with a way to find it that its source did not go: a live service has no list of names.
CREATE TABLE unsearched (lookup UINTEGER, reason VARCHAR);

-- chain: a row is a Wikidata language in the fallback chain of one of our languages; `english`: the last resort.
CREATE TABLE chain (language VARCHAR, name_language VARCHAR, position INTEGER, english BOOLEAN, fold VARCHAR);

-- keys: a row is the normal form of a lookup's surface under one set of folding rules.
CREATE TABLE keys (lookup UINTEGER, language VARCHAR, fold VARCHAR, key VARCHAR);
