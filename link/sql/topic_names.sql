-- topic_names: a row is a name of an item in a scope of some query, in its normal form and its loose form. A name without its
-- article is a further row: `rule_count` is the number of rules applied to the name.
CREATE TABLE topic_names AS
SELECT name.item, name.language, name.name, name.kind, 0::UTINYINT AS rule_count, name.normalised, loose(name.normalised) AS loose
FROM wikidata.names AS name
SEMI JOIN (FROM members SEMI JOIN query_group_scopes USING (scope)) AS member ON member.item = name.item
SEMI JOIN chain ON chain.name_language = name.language;
