-- known_parts: a row is a name whose rest names a class of the item or who made it, by the last word of a name, too. Where
-- Wikidata does not say who made it, any person of the topic may have: that is not `sure`.
CREATE OR REPLACE TABLE known_parts AS
WITH above_names AS (
    SELECT DISTINCT above.below, above.what, name.language, unnest(CASE above.what
        WHEN 'class' THEN [name.normalised] ELSE [name.normalised, string_split(name.normalised, ' ')[-1]]
    END) AS normalised
    FROM classes_or_creators AS above JOIN wikidata.names AS name ON name.item = above.item
),
person_names AS (
    SELECT DISTINCT members.scope, name.language, name.normalised
    FROM name_forms AS name
    SEMI JOIN side_texts ON side_texts.text = name.normalised AND side_texts.what = 'creator'
    JOIN members USING (item)
    JOIN scopes ON scopes.scope = members.scope AND scopes.occupation IS NOT NULL
)
SELECT side_texts.query, side_texts.item, side_texts.key, true AS sure
FROM side_texts
JOIN above_names AS above ON above.below = side_texts.item AND above.what = side_texts.what AND above.normalised = side_texts.text
JOIN chain ON chain.language = side_texts.language_of_query AND chain.name_language = above.language
UNION
SELECT side_texts.query, side_texts.item, side_texts.key, false
FROM side_texts
JOIN person_names AS person ON person.normalised = side_texts.text AND side_texts.what = 'creator'
JOIN query_group_scopes AS own ON own.query_group = side_texts.query_group AND own.scope = person.scope
JOIN chain ON chain.language = side_texts.language_of_query AND chain.name_language = person.language
ANTI JOIN (FROM classes_or_creators WHERE what = 'creator') AS made ON made.below = side_texts.item;

-- found: add the items of the longest name of each query. Known rests are links; in doubt are works beside a person who may
-- have made them, and of others only the head, where it has half of the letters: olive oil is an oil, no olive.
INSERT INTO found
WITH judged AS (
    SELECT doubt.*, coalesce(part.sure, false) AS known,
        -- "by", or a dash before a title, says that a creator is named, whom the snapshot need not know.
        part.query IS NOT NULL OR (work AND length(key) >= 4 AND (
            (creator_after IS NOT NULL AND len(sorts_before) > 0) OR (apart AND len(sorts_after) > 0)
        )) AS likely
    FROM inner_doubts AS doubt
    LEFT JOIN (SELECT query, item, key, bool_or(sure) AS sure FROM known_parts GROUP BY ALL) AS part USING (query, item, key)
),
longest AS (
    SELECT * FROM judged
    WHERE likely OR (
        spaced AND length(key) >= 4 AND 2 * length(replace(key, ' ', '')) >= length(replace(whole, ' ', ''))
        AND CASE WHEN head_last THEN len(sorts_after) ELSE len(sorts_before) END > 0
    )
    QUALIFY rank() OVER (PARTITION BY query ORDER BY known DESC, likely DESC, length(key) DESC) = 1
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
