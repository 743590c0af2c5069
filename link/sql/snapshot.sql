-- A snapshot of Wikidata: the tables of a DuckDB file.
-- An item is its number: 5 is Q5. The targets of claims are resolved through redirects.

-- items: a row is a Wikidata item. `sitelinks` is 0 where the dump has none.
CREATE TABLE wikidata.items (item UINTEGER NOT NULL, sitelinks UINTEGER NOT NULL, revision UBIGINT);

-- descriptions: a row is the description of an item in one language.
CREATE TABLE wikidata.descriptions (item UINTEGER NOT NULL, language VARCHAR NOT NULL, description VARCHAR NOT NULL);

-- names: a row is a label ('label') or an alias ('alias') of an item; `normalised` as by link/normalise.py. Pages of Wikimedia's have none: they bear every name that means several things.
CREATE TABLE wikidata.names (
    item UINTEGER NOT NULL, language VARCHAR NOT NULL, name VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    normalised VARCHAR NOT NULL
);

-- keys: a row is a name with its key (link/keys.py), where that is not the normal form.
CREATE TABLE wikidata.keys (
    item UINTEGER NOT NULL, language VARCHAR NOT NULL, name VARCHAR NOT NULL, kind VARCHAR NOT NULL, key VARCHAR NOT NULL
);

-- claims: a row is a statement of best rank whose value is an item. `ended`: the year in which it ended, -32767 where that
-- is unknown; NULL: it has no end.
CREATE TABLE wikidata.claims (
    item UINTEGER NOT NULL, property VARCHAR NOT NULL, target UINTEGER NOT NULL, ended SMALLINT
);

-- redirects: a row is an item that was merged into another.
CREATE TABLE wikidata.redirects (item UINTEGER NOT NULL, target UINTEGER NOT NULL);

-- kinds: a row is an item that was assigned to a topic's kind by hand, which gives its granularity. Wikidata has no such
-- data: a snapshot of a dump has no rows here.
CREATE TABLE wikidata.kinds (item UINTEGER NOT NULL, topic VARCHAR NOT NULL, kind VARCHAR NOT NULL);

-- fetched: a row is a name that the live service was asked for in a language of Wikidata's, with the items that it found,
-- in its order; with '' as language, items that were asked for by number and do not exist. Only a filled snapshot has rows.
CREATE TABLE wikidata.fetched (language VARCHAR NOT NULL, term VARCHAR NOT NULL, asked_at TIMESTAMP_S NOT NULL, hits UINTEGER[]);
