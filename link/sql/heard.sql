-- What a source that has to be asked name by name answered.

-- heard: a row is an item that it found for a lookup.
CREATE TABLE heard (lookup UINTEGER, item UINTEGER);

-- turned: a row is a lookup of another form or spelling of what another lookup (`own`) holds.
CREATE TABLE turned (lookup UINTEGER, own UINTEGER, language VARCHAR, surface VARCHAR);
