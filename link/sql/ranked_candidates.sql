-- candidate_paths: a row is a candidate that lies in a scope of its query, with its path into the best scope: that of the
-- query's own kind, else the nearest. `rank` is its place among the query's; `path` has the form of the output tables. `grade`
-- is the strength that ranks: where a survivor bears the name letter by letter, capitals alone make no other weaker.
CREATE TABLE candidate_paths AS
WITH reaching AS (
    SELECT
        found.query,
        found.item,
        any_value((found.query_group, found.grade, found.score, found.strength)) AS found,
        min((NOT own.own, reached.distance, own.scope)) AS first
    FROM found
    JOIN query_group_scopes AS own USING (query_group)
    JOIN reached USING (scope, item)
    GROUP BY found.query, found.item
),
best AS (
    SELECT
        *,
        CASE WHEN exact IN (0, 1, 3, 4) AND found[4] - found[2] IN (1, 2) THEN greatest(found[2], exact) ELSE found[4] END AS grade
    FROM (SELECT *, min(found[4]) OVER (PARTITION BY query) AS exact FROM reaching)
)
SELECT
    best.query,
    best.item,
    NOT best.first[1] AS own,
    best.grade,
    own.reached,
    best.first[2] AS distance,
    list_transform(reached.path, lambda step: 'Q' || step) AS path,
    'Q' || coalesce(reached.path[-1], best.item) AS root,
    scopes.occupation IS NOT NULL AS person,
    row_number() OVER (
        PARTITION BY best.query
        ORDER BY
            best.first[1], best.grade, best.found[3] DESC, best.first[2], item.sitelinks DESC NULLS LAST, best.found[4],
            best.item
    ) AS rank
FROM best
JOIN query_group_scopes AS own ON own.query_group = best.found[1] AND own.scope = best.first[3]
JOIN scopes ON scopes.scope = best.first[3]
JOIN reached ON reached.scope = best.first[3] AND reached.item = best.item
LEFT JOIN wikidata.items AS item ON item.item = best.item;

-- ranked_candidates: a row is a candidate of a query, with its path to a root and its rank, if it has a path.
CREATE TABLE ranked_candidates AS
SELECT
    found.* EXCLUDE (grade),
    coalesce(candidate_paths.grade, found.grade) AS grade,
    candidate_paths.own,
    candidate_paths.distance,
    candidate_paths.reached,
    candidate_paths.path,
    candidate_paths.root,
    candidate_paths.person,
    coalesce(item.sitelinks, 0) AS sitelinks,
    candidate_paths.rank
FROM found
LEFT JOIN candidate_paths USING (query, item)
LEFT JOIN wikidata.items AS item ON item.item = found.item;

-- runners_up: a row is a query with the best survivor that competes with the first. Subclasses and instances of the first do
-- not compete: a name that both have means the general one (car, and passenger car).
CREATE TABLE runners_up AS
SELECT first.query, min(second.rank) AS rank
FROM candidate_paths AS first
JOIN candidate_paths AS second ON second.query = first.query AND second.rank > 1
WHERE first.rank = 1 AND NOT list_contains(coalesce(second.path, []), 'Q' || first.item)
GROUP BY first.query;

-- bare_names: a row is a query whose first candidate is a person by a given name or a ruler's name with a number alone. Many
-- have these: Heinrich III. is ambiguous unless the topic leaves one. A family name is told from a given name by its place.
-- `alone`: it is ambiguous even then: a ruler of whom no occupation is known, a single word that is neither a whole name of the
-- person nor a family name, or a given name that is one's whole name and of whom no occupation is known (Peter, not Prince).
CREATE TABLE bare_names AS
WITH person_queries AS (
    SELECT query FROM ranked_candidates WHERE rank = 1 AND person
),
said AS MATERIALIZED (
    SELECT claim.item, claim.property, claim.target
    FROM wikidata.claims AS claim
    SEMI JOIN (FROM ranked_candidates SEMI JOIN person_queries USING (query)) AS candidate ON candidate.item = claim.item
    WHERE claim.property IN ('P31', 'P106')
),
persons AS (
    SELECT
        first.query, first.item, first.language, keys.key,
        regexp_matches(keys.key, '[^\p{L}][ivx]+\.?$|^[ivx]+\. |[0-9]+\.?$|[0-9一二三四五六七八九十] ?[世세]$|\p{Han}{2}[二三四五六七八九]?十[一二三四五六七八九]?$') AS ruler,
        NOT regexp_matches(keys.key, '[ ・·‧]') AS one_word,
        EXISTS (FROM said WHERE said.item = first.item AND property = 'P31' AND target = 5) AS human,
        EXISTS (FROM said WHERE said.item = first.item AND property = 'P106') AS occupied
    FROM ranked_candidates AS first
    JOIN queries USING (query)
    JOIN keys USING (lookup)
    WHERE first.rank = 1 AND first.person
),
labels AS (
    SELECT
        persons.query,
        bool_or(name.normalised = persons.key) AS whole,  -- under one of its normal forms
        bool_or(starts_with(name.normalised, persons.key || ' ')) AS given,
        bool_or(name.language IN (persons.language, 'en') AND list_contains(regexp_split_to_array(name.normalised, '[ ・·‧]+')[2:], persons.key)) AS family,
        bool_or(name.language IN (persons.language, 'en') AND regexp_matches(name.normalised, '[ ・·‧]')) AS longer
    FROM persons
    JOIN wikidata.names AS name ON name.item = persons.item AND name.kind = 'label'
    WHERE persons.one_word
    GROUP BY persons.query
),
given_names AS (
    SELECT DISTINCT other.query
    FROM ranked_candidates AS other
    SEMI JOIN person_queries USING (query)
    JOIN said ON said.item = other.item AND said.property = 'P31'
    WHERE said.target IN (202444, 12308941, 11879590, 3409032)  -- given names: of any, of men, of women, of both
)
SELECT
    persons.query, bool_or(persons.human AND CASE
        WHEN persons.ruler THEN NOT persons.occupied
        WHEN NOT persons.one_word THEN false
        WHEN labels.whole THEN NOT persons.occupied AND given_names.query IS NOT NULL
        ELSE labels.longer AND NOT labels.family
    END) AS alone
FROM persons
LEFT JOIN labels ON labels.query = persons.query
LEFT JOIN given_names ON given_names.query = persons.query
GROUP BY persons.query
HAVING alone OR bool_or(persons.ruler OR labels.given);

-- unspecified: a row is a query whose first candidate bears the name with a word in brackets alone, which the mention lacks: "fava
-- (sweet)" is set apart from the fava that one means. Not so where the word says what is asked for: one that stands beside works or
-- bands, "The War (novel)", or a class or occupation of the item.
CREATE TABLE unspecified AS
WITH bracketed AS (
    SELECT query, item, path, language, regexp_split_to_array(text, '[^\p{L}\p{M}\p{N}]+') AS words, text, topic, code
    FROM (
        SELECT
            first.query, first.item, first.path, first.language, query_group.topic, query_group.language AS code, query.surface,
            lower(regexp_extract(first.name, '[(（\[]([^()（）\[\]]+)[)）\]]$', 1)) AS text
        FROM ranked_candidates AS first
        JOIN queries AS query USING (query)
        JOIN query_groups AS query_group ON query_group.query_group = query.query_group
        WHERE first.rank = 1 AND first.strength IN (7, 8, 9)
    )
    WHERE text <> '' AND NOT contains(lower(surface), text)
),
classes_of AS (
    SELECT query, language, unnest(path)[2:]::UINTEGER AS class FROM bracketed
    UNION
    SELECT bracketed.query, bracketed.language, claim.target
    FROM bracketed JOIN wikidata.claims AS claim USING (item)
    WHERE claim.property IN ('P31', 'P279', 'P106')
),
kinds AS (
    SELECT bracketed.query, kind_words.word
    FROM bracketed JOIN kind_words ON kind_words.topic = bracketed.topic AND kind_words.language = bracketed.code
    UNION
    SELECT classes_of.query, name.normalised
    FROM classes_of JOIN wikidata.names AS name ON name.item = classes_of.class AND name.language IN (classes_of.language, 'mul')
)
SELECT bracketed.query
FROM bracketed
WHERE NOT EXISTS (
    FROM kinds
    WHERE kinds.query = bracketed.query AND (
        list_contains(bracketed.words, kinds.word) OR bracketed.text = kinds.word
        OR (regexp_matches(kinds.word, '[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]') AND contains(bracketed.text, kinds.word))
        OR (contains(kinds.word, ' ') AND contains(bracketed.text, kinds.word))
    )
);

-- best_candidates: a row is a query with at least one survivor: the first, the number of survivors, and what makes it
-- ambiguous. `close`: the runner-up is as good. `otherwise`: an item outside the topic has the name by an earlier rule: in
-- the query's own language where the first matches in English; or exactly, or with fewer rules, where the first matches by
-- spelling, inflection or a name within. A name within a mention whose rest is unknown is ambiguous,
-- and so is a bare given name, and a name that is the item's with a word in brackets alone (`apart`).
CREATE TABLE best_candidates AS
SELECT
    first.*,
    survivors.survivors,
    coalesce(
        second.own = first.own AND second.grade = first.grade AND second.score = first.score
        AND second.distance <= first.distance + 1 AND first.sitelinks + 1 < $clear_lead * (second.sitelinks + 1),
        false
    ) AS close,
    coalesce(others.strength // 3 < first.strength // 3 OR others.score > first.score, false) AS otherwise,
    coalesce(first.person AND (survivors.survivors > 1 OR given.alone) AND given.query IS NOT NULL, false) AS bare,
    unspecified.query IS NOT NULL AS apart,
    close OR otherwise OR bare OR apart OR first.strength = 9 AS ambiguous
FROM ranked_candidates AS first
JOIN (SELECT query, count(*) AS survivors FROM candidate_paths GROUP BY query) AS survivors USING (query)
LEFT JOIN runners_up USING (query)
LEFT JOIN ranked_candidates AS second ON second.query = first.query AND second.rank = runners_up.rank
LEFT JOIN (
    SELECT query, min(strength) AS strength, max(score) AS score
    FROM ranked_candidates SEMI JOIN candidate_paths USING (query) WHERE rank IS NULL GROUP BY query
) AS others ON others.query = first.query
LEFT JOIN bare_names AS given ON given.query = first.query
LEFT JOIN unspecified ON unspecified.query = first.query
WHERE first.rank = 1;
