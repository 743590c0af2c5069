-- members: as in `members.sql`, those that the snapshot keeps of its scopes.
CREATE OR REPLACE TABLE members AS
SELECT kept_scopes.scope, member.item
FROM wikidata.scope_members AS member
JOIN kept_scopes ON kept_scopes.number = member.scope;
