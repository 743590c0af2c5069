-- inner_doubts: a row is an item of the topic, no person, whose name is inside a query without any candidate.
CREATE OR REPLACE TABLE inner_doubts AS
WITH asked AS (
    SELECT unmatched.* FROM unmatched ANTI JOIN found ON found.query = unmatched.query
)
SELECT DISTINCT
    asked.query, asked.query_group, topic_names.item, topic_names.name, topic_names.language, topic_names.kind, chain.position,
    scopes.members = 'instances' AS work, named.language AS asked_in, named.* EXCLUDE (language)
FROM inner_parts AS named
JOIN keys ON keys.language = named.language AND keys.key = named.whole
JOIN asked USING (lookup)
JOIN chain ON chain.language = keys.language AND chain.fold = keys.fold AND NOT chain.english
JOIN topic_names ON topic_names.language = chain.name_language AND topic_names.normalised = named.key
JOIN query_group_scopes ON query_group_scopes.query_group = asked.query_group
JOIN scopes USING (scope)
JOIN members ON members.scope = query_group_scopes.scope AND members.item = topic_names.item
WHERE scopes.occupation IS NULL AND topic_names.rule_count = 0;

-- above: a row is a class of such an item, up to four steps above it, or who made it.
CREATE OR REPLACE TABLE above AS
WITH RECURSIVE classes_above AS (
    SELECT item AS below, item, 0 AS steps FROM (SELECT DISTINCT item FROM inner_doubts)
    UNION
    SELECT lower.below, claim.target, lower.steps + 1
    FROM classes_above AS lower
    JOIN wikidata.claims AS claim ON claim.item = lower.item
    WHERE lower.steps < 4 AND (claim.property = 'P279' OR (claim.property = 'P31' AND lower.steps = 0))
)
SELECT DISTINCT below, item, 'class' AS what FROM classes_above WHERE steps > 0
UNION
SELECT DISTINCT doubt.item, claim.target, 'creator'
FROM inner_doubts AS doubt
JOIN wikidata.claims AS claim ON claim.item = doubt.item AND claim.property IN ('P50', 'P86', 'P170', 'P175', 'P676');

-- told: a row is a text beside a name that may say what it is, where the other side is known: a class, or a creator.
CREATE OR REPLACE TABLE told AS
SELECT DISTINCT query, query_group, item, key, asked_in, what, text
FROM (
    SELECT *, unnest([
        {'what': 'class', 'text': CASE WHEN len(sorts_after) > 0 THEN before END},
        {'what': 'class', 'text': CASE WHEN len(sorts_before) > 0 THEN after END},
        {'what': 'creator', 'text': CASE WHEN work AND len(sorts_after) > 0 THEN creator_before END},
        {'what': 'creator', 'text': CASE WHEN work AND len(sorts_before) > 0 THEN creator_after END}
    ], recursive := true)
    FROM inner_doubts
)
WHERE text <> '';

-- known_parts: a row is a name whose rest names a class of the item or who made it, by the last word of a name, too. Where
-- Wikidata does not say who made it, any person of the topic may have.
CREATE OR REPLACE TABLE known_parts AS
WITH above_names AS (
    SELECT DISTINCT above.below, above.what, name.language, unnest(CASE above.what
        WHEN 'class' THEN [name.normalised] ELSE [name.normalised, string_split(name.normalised, ' ')[-1]]
    END) AS normalised
    FROM above JOIN wikidata.names AS name ON name.item = above.item
),
person_names AS (
    SELECT DISTINCT members.scope, name.language, name.normalised
    FROM topic_names AS name
    SEMI JOIN told ON told.text = name.normalised AND told.what = 'creator'
    JOIN members USING (item)
    JOIN scopes ON scopes.scope = members.scope AND scopes.occupation IS NOT NULL
)
SELECT told.query, told.item, told.key
FROM told
JOIN above_names AS above ON above.below = told.item AND above.what = told.what AND above.normalised = told.text
JOIN chain ON chain.language = told.asked_in AND chain.name_language = above.language
UNION
SELECT told.query, told.item, told.key
FROM told
JOIN person_names AS person ON person.normalised = told.text AND told.what = 'creator'
JOIN query_group_scopes AS own ON own.query_group = told.query_group AND own.scope = person.scope
JOIN chain ON chain.language = told.asked_in AND chain.name_language = person.language;

-- found: add the items of the longest name of each query. Known rests are links; of others only the head is in doubt, where it
-- has half of the letters: olive oil is an oil, no olive.
INSERT INTO found
WITH judged AS (
    SELECT doubt.*, part.query IS NOT NULL AS known
    FROM inner_doubts AS doubt
    LEFT JOIN known_parts AS part USING (query, item, key)
),
longest AS (
    SELECT * FROM judged
    WHERE known OR (
        spaced AND length(key) >= 4 AND 2 * length(replace(key, ' ', '')) >= length(replace(whole, ' ', ''))
        AND CASE WHEN head_last THEN len(sorts_after) ELSE len(sorts_before) END > 0
    )
    QUALIFY rank() OVER (PARTITION BY query ORDER BY known DESC, length(key) DESC) = 1
)
SELECT
    query, query_group, item, CASE WHEN known THEN 8 ELSE 9 END AS strength, hit[3] AS name, hit[4] AS language,
    95.0 - hit[1] AS score, strength AS grade
FROM (
    SELECT
        query, query_group, item, bool_or(known) AS known,
        min((CASE kind WHEN 'alias' THEN 1 ELSE 0 END, position, name, language)) AS hit
    FROM longest
    GROUP BY query, query_group, item
);
