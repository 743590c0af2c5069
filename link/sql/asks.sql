-- What is to be linked, from `given` (surfaces, some perhaps more than once) and `scope_of` (the scope of each kind).

-- asks: a row is a surface within a language, topic and kind, in a fixed order.
CREATE TABLE asks AS
SELECT (row_number() OVER (ORDER BY topic, language, kind, surface))::UINTEGER AS ask, language, topic, kind, surface
FROM (SELECT DISTINCT language, topic, kind, surface FROM given)
SEMI JOIN scope_of USING (topic, kind);

-- ask_scopes: a row is a scope in which an ask's entity may lie: that of its kind (`own`), or of another of the topic's
-- kinds, for what an extractor takes for a dish may be an ingredient. `reached` is the kind whose scope it is.
CREATE TABLE ask_scopes AS
SELECT ask.ask, other.scope::USMALLINT AS scope, own.scope = other.scope AS own,
    CASE WHEN own.scope = other.scope THEN ask.kind ELSE other.kind END AS reached
FROM asks AS ask
JOIN scope_of AS own USING (topic, kind)
JOIN (SELECT topic, scope, min_by(kind, place) AS kind FROM scope_of GROUP BY topic, scope) AS other USING (topic);

-- lookups: a row is a surface within a language: what names are looked up for.
CREATE TABLE lookups AS
SELECT (row_number() OVER (ORDER BY language, surface))::UINTEGER AS lookup, language, surface
FROM (SELECT DISTINCT language, surface FROM asks);

-- chain: a row is a Wikidata language whose names a language of ours falls back on; `english`: the last resort.
CREATE TABLE chain (language VARCHAR, name_language VARCHAR, position INTEGER, english BOOLEAN, fold VARCHAR);

-- keys: a row is the normal form of a lookup's surface under one set of folding rules.
CREATE TABLE keys (lookup UINTEGER, fold VARCHAR, key VARCHAR);
