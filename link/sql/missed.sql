-- missed: a row is an ask without any candidate, with one of its normal forms. A block is what asks and names have in
-- common that are compared: scope, language, folding rules and first letter.
CREATE TABLE missed AS
SELECT
    ask.ask, ask.language, own.scope, keys.fold, keys.key,
    dense_rank() OVER (ORDER BY ask.language, own.scope, keys.fold, keys.key[1]) AS block
FROM asks AS ask
JOIN ask_scopes AS own ON own.ask = ask.ask AND own.own
JOIN lookups AS lookup USING (language, surface)
JOIN keys USING (lookup)
ANTI JOIN found ON found.ask = ask.ask
WHERE keys.key <> '';

-- pool: a row is a name, in its normal form, of a block.
CREATE TABLE pool AS
SELECT DISTINCT block.block, name.normalised AS key
FROM members
JOIN wikidata.names AS name ON name.item = members.item
JOIN chain ON chain.name_language = name.language
JOIN (SELECT DISTINCT block, language, scope, fold, key[1] AS letter FROM missed) AS block
    ON block.language = chain.language
    AND block.fold = chain.fold
    AND block.scope = members.scope
    AND block.letter = name.normalised[1];

-- alike: a row is a name that is nearly what was asked for.
CREATE TABLE alike (ask UINTEGER, key VARCHAR, score DOUBLE);
