-- The answers of a source that is queried name by name.

-- api_hits: a row is an item that the source returned for a lookup.
CREATE TABLE api_hits (lookup UINTEGER, item UINTEGER);

-- expansions: a row is a lookup of another form or spelling of the surface of the lookup `own`.
CREATE TABLE expansions (lookup UINTEGER, own UINTEGER, language VARCHAR, surface VARCHAR);
