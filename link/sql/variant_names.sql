-- spelled: a row is a name of an item in a scope in which something may lie, in its normal form and loosely spelled.
-- A name without its article is one more: `turns` counts the rules that turned the name.
CREATE TABLE spelled AS
SELECT name.item, name.language, name.name, name.kind, 0::UTINYINT AS turns, name.normalised, loose(name.normalised) AS loose
FROM wikidata.names AS name
SEMI JOIN (FROM members SEMI JOIN heading_scopes USING (scope)) AS member ON member.item = name.item
SEMI JOIN chain ON chain.name_language = name.language;
