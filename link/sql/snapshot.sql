-- A snapshot of Wikidata: the tables of one DuckDB file, and of the live API's answers while a run links with them.
-- An item is known by its number: 5 is Q5. The targets of claims are resolved through redirects.

-- items: a row is a Wikidata item. Sitelinks is 0 where the dump does not say.
CREATE TABLE wikidata.items (item UINTEGER NOT NULL, sitelinks UINTEGER NOT NULL, revision UBIGINT);

-- descriptions: a row is what an item is said to be, in one language.
CREATE TABLE wikidata.descriptions (item UINTEGER NOT NULL, language VARCHAR NOT NULL, description VARCHAR NOT NULL);

-- names: a row is a label ('label') or an alias ('alias') of an item; normalised as link/normalise.py has it.
CREATE TABLE wikidata.names (
    item UINTEGER NOT NULL, language VARCHAR NOT NULL, name VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    normalised VARCHAR NOT NULL
);

-- claims: a row is a statement of best rank that names another item.
CREATE TABLE wikidata.claims (item UINTEGER NOT NULL, property VARCHAR NOT NULL, target UINTEGER NOT NULL);

-- redirects: a row is an item that was merged into another.
CREATE TABLE wikidata.redirects (item UINTEGER NOT NULL, target UINTEGER NOT NULL);

-- kinds: a row is an item that the snapshot's makers placed in a topic's kind by hand, which says how specific it is.
-- Wikidata itself does not say it: a snapshot built from a dump has none.
CREATE TABLE wikidata.kinds (item UINTEGER NOT NULL, topic VARCHAR NOT NULL, kind VARCHAR NOT NULL);
