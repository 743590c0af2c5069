-- From `given` (queries, each number once) and `kinds` (a row is a kind of a topic with its scope, in the order of the topics).

-- queries: a row is a mention's surface, dictionary form and English name within a language, topic and kind, known by its number.
-- `own` is the scope of its kind. The output tables are sorted by the number: texts sort ten times as slowly.
CREATE TABLE queries AS
SELECT given.query, given.language, given.topic, given.kind, given.surface, given.name, given.english, kinds.scope AS own
FROM given JOIN kinds USING (topic, kind);

-- topic_scopes: a row is a scope of a topic, with the first kind that has it: the entity of a query may be of another kind
-- of its topic, since what an extractor calls a dish may be an ingredient.
CREATE TABLE topic_scopes AS SELECT topic, scope, any_value(roots) AS roots, min_by(kind, place) AS kind FROM kinds GROUP BY topic, scope;
