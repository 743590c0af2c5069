-- titles_within: a row is a title found within a mention, with what stands on either side of it, without marks. `marked`: the
-- mention has title marks.
CREATE OR REPLACE TABLE titles_within AS
WITH titles AS (
    SELECT DISTINCT found.query, found.item, found.strength, query_group.language, keys.key, name.normalised,
        regexp_matches(query.surface, '[《〈「『“„«»"]') AS marked
    FROM found
    JOIN query_groups AS query_group USING (query_group)
    JOIN query_group_scopes AS own ON own.query_group = found.query_group
    JOIN scopes ON scopes.scope = own.scope AND scopes.members = 'instances' AND scopes.occupation IS NULL
    SEMI JOIN members ON members.scope = own.scope AND members.item = found.item
    JOIN queries AS query ON query.query = found.query
    JOIN keys ON keys.lookup = query.lookup AND keys.language = query_group.language
    JOIN wikidata.names AS name
        ON name.item = found.item AND name.name = found.name AND name.language = found.language
    WHERE found.strength IN (8, 9) AND contains(keys.key, name.normalised)
)
SELECT
    query, item, strength, language, marked,
    regexp_replace(key[:place - 1], '[《〈「『“„«»"\s:：,;–—-]+$', '') AS before,
    regexp_replace(key[place + length(normalised):], '^[》〉」』”“»«"\s:：,;–—-]+', '') AS after
FROM (SELECT *, strpos(key, normalised) AS place FROM titles);

-- told_creators: a row is a text beside such a title that may name its creator. `plainly`: the mention says that it does.
-- `misplaced`: the found name stands where the creator would.
CREATE OR REPLACE TABLE told_creators (query UINTEGER, item UINTEGER, text VARCHAR, plainly BOOLEAN, misplaced BOOLEAN);
