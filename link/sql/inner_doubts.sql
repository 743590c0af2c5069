-- inner_doubts: a row is an item of the topic, no person, whose name is inside a query without any candidate.
CREATE OR REPLACE TABLE inner_doubts AS
WITH unfound AS (
    SELECT unmatched.* FROM unmatched ANTI JOIN found ON found.query = unmatched.query
)
SELECT DISTINCT
    unfound.query, unfound.query_group, inner_texts.item, inner_texts.name, inner_texts.language, inner_texts.kind, chain.position,
    scopes.members = 'instances' AS work, named.language AS language_of_query, named.* EXCLUDE (language)
FROM inner_parts AS named
JOIN keys ON keys.language = named.language AND keys.key = named.whole
JOIN unfound USING (lookup)
JOIN chain ON chain.language = keys.language AND chain.fold = keys.fold AND NOT chain.english
JOIN inner_texts ON inner_texts.language = chain.name_language AND inner_texts.normalised = named.key
JOIN query_group_scopes ON query_group_scopes.query_group = unfound.query_group
JOIN scopes USING (scope)
JOIN members ON members.scope = query_group_scopes.scope AND members.item = inner_texts.item
WHERE scopes.occupation IS NULL;

-- classes_or_creators: a row is a class of such an item, up to four steps above it, or who made it.
CREATE OR REPLACE TABLE classes_or_creators AS
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

-- side_texts: a row is a text beside a name that may say what it is, where the other side is known: a class, or a creator.
CREATE OR REPLACE TABLE side_texts AS
SELECT DISTINCT query, query_group, item, key, language_of_query, what, text
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

-- named_items: a row is an item of the topics that may have such a creator's name.
CREATE OR REPLACE TABLE named_items AS
SELECT DISTINCT item
FROM loose_names
SEMI JOIN (FROM side_texts WHERE what = 'creator') AS creator ON loose_hash(loose(creator.text)) = loose_names.loose_hash
SEMI JOIN topic_items ON topic_items.item = loose_names.item;
