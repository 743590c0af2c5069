-- named: a row is a name of an item of `named_items`, in a language of some query's fallback chain.
CREATE OR REPLACE TABLE named AS
SELECT name.*
FROM wikidata.names AS name
SEMI JOIN named_items USING (item)
SEMI JOIN chain ON chain.name_language = name.language;
