-- What is to be linked, from `given` (surfaces, some perhaps more than once) and `scope_of` (the scope of each kind).

-- asks: a row is a surface within a language, topic and kind, in a fixed order.
CREATE TABLE asks AS
SELECT (row_number() OVER (ORDER BY topic, language, kind, surface))::UINTEGER AS ask, given.*, scope::USMALLINT AS scope
FROM (SELECT DISTINCT language, topic, kind, surface FROM given) AS given
JOIN scope_of USING (topic, kind);

-- lookups: a row is a surface within a language: what names are looked up for.
CREATE TABLE lookups AS
SELECT (row_number() OVER (ORDER BY language, surface))::UINTEGER AS lookup, language, surface
FROM (SELECT DISTINCT language, surface FROM asks);

-- chain: a row is a Wikidata language whose names a language of ours falls back on; `english`: the last resort.
CREATE TABLE chain (language VARCHAR, name_language VARCHAR, position INTEGER, english BOOLEAN, fold VARCHAR);

-- keys: a row is the normal form of a lookup's surface under one set of folding rules.
CREATE TABLE keys (lookup UINTEGER, fold VARCHAR, key VARCHAR);
