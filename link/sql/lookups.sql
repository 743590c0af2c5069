-- What names are looked up for, from `given` (surfaces, some perhaps more than once) and `scope_of` (the scope of each
-- kind). Names are compared once, here: afterwards numbers stand for them.

-- headings: a row is a language, topic and kind in which something is to be linked, in a fixed order.
CREATE TABLE headings AS
SELECT (row_number() OVER (ORDER BY topic, language, kind))::USMALLINT AS heading, language, topic, kind
FROM (SELECT DISTINCT language, topic, kind FROM given)
SEMI JOIN scope_of USING (topic, kind);

-- heading_scopes: a row is a scope in which an entity asked for under a heading may lie: that of its kind (`own`), or of
-- another of the topic's kinds, for what an extractor takes for a dish may be an ingredient. `reached` is the kind whose
-- scope it is.
CREATE TABLE heading_scopes AS
SELECT heading.heading, other.scope::USMALLINT AS scope, own.scope = other.scope AS own,
    CASE WHEN own.scope = other.scope THEN heading.kind ELSE other.kind END AS reached
FROM headings AS heading
JOIN scope_of AS own USING (topic, kind)
JOIN (SELECT topic, scope, min_by(kind, place) AS kind FROM scope_of GROUP BY topic, scope) AS other USING (topic);

-- lookups: a row is a surface within a language: what names are looked up for. `headings` are those that it is under, of
-- which `asks.sql` makes the asks.
CREATE TABLE lookups AS
SELECT (row_number() OVER ())::UINTEGER AS lookup, language, surface, headings
FROM (
    SELECT language, given.surface, list(DISTINCT heading.heading) AS headings
    FROM given JOIN headings AS heading USING (language, topic, kind)
    GROUP BY language, given.surface
);

-- chain: a row is a Wikidata language whose names a language of ours falls back on; `english`: the last resort.
CREATE TABLE chain (language VARCHAR, name_language VARCHAR, position INTEGER, english BOOLEAN, fold VARCHAR);

-- keys: a row is the normal form of a lookup's surface under one set of folding rules.
CREATE TABLE keys (lookup UINTEGER, language VARCHAR, fold VARCHAR, key VARCHAR);
