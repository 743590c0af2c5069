-- The attached snapshot `whole` as `wikidata`, without the claims of `without_claims`: a row there is an item and a property.
CREATE SCHEMA wikidata;
CREATE VIEW wikidata.items AS FROM whole.items;
CREATE VIEW wikidata.names AS FROM whole.names;
CREATE VIEW wikidata.claims AS FROM whole.claims ANTI JOIN without_claims USING (item, property);
