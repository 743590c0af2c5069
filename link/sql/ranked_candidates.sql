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
-- `always`: by an alias of one word that does not end the item's label, as James is an alias of Jacobus de Voragine.
CREATE TABLE bare_names AS
SELECT DISTINCT first.query, false AS always
FROM ranked_candidates AS first
JOIN queries USING (query)
JOIN keys USING (lookup)
WHERE first.rank = 1 AND first.person AND (
    regexp_matches(keys.key, '[^\p{L}][ivx]+\.?$|[0-9]+\.?$|[一二三四五六七八九十]世$')
    OR (NOT contains(keys.key, ' ') AND EXISTS (
        FROM wikidata.names AS name
        WHERE name.item = first.item AND name.kind = 'label' AND starts_with(name.normalised, keys.key || ' ')
    ))
)
UNION ALL
SELECT DISTINCT first.query, true
FROM ranked_candidates AS first
JOIN queries USING (query)
JOIN keys USING (lookup)
WHERE first.rank = 1 AND first.person AND NOT contains(keys.key, ' ')
    AND EXISTS (
        FROM wikidata.names AS name
        WHERE name.item = first.item AND name.kind = 'label' AND name.language = first.language AND contains(name.normalised, ' ')
    )
    AND NOT EXISTS (
        FROM wikidata.names AS name
        WHERE name.item = first.item AND name.kind = 'label' AND (name.normalised = keys.key OR suffix(name.normalised, ' ' || keys.key))
    );

-- best_candidates: a row is a query with at least one survivor: the first, the number of survivors, and what makes it
-- ambiguous. `close`: the runner-up is as good. `otherwise`: an item outside the topic has the name by an earlier rule: in
-- the query's own language where the first matches in English; or exactly, or with fewer rules, where the first matches by
-- spelling, inflection or a name within. A name within a mention whose rest is unknown is ambiguous,
-- and so is a bare given name that several persons of the topic have.
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
    coalesce(first.person AND (given.always OR survivors.survivors > 1) AND given.query IS NOT NULL, false) AS bare,
    close OR otherwise OR bare OR first.strength = 9 AS ambiguous
FROM ranked_candidates AS first
JOIN (SELECT query, count(*) AS survivors FROM candidate_paths GROUP BY query) AS survivors USING (query)
LEFT JOIN runners_up USING (query)
LEFT JOIN ranked_candidates AS second ON second.query = first.query AND second.rank = runners_up.rank
LEFT JOIN (
    SELECT query, min(strength) AS strength, max(score) AS score
    FROM ranked_candidates SEMI JOIN candidate_paths USING (query) WHERE rank IS NULL GROUP BY query
) AS others ON others.query = first.query
LEFT JOIN (SELECT query, bool_or(always) AS always FROM bare_names GROUP BY query) AS given ON given.query = first.query
WHERE first.rank = 1;
