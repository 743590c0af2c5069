-- lookup_forms: a row is such a form of an unmatched lookup, in a language of its fallback chain.
CREATE OR REPLACE VIEW lookup_forms AS
SELECT
    keys.lookup, known_forms.rule_count, known_forms.key, known_forms.loose, known_forms.turned,
    chain.name_language, chain.position, chain.english
FROM known_forms
JOIN chain ON chain.language = known_forms.language
JOIN keys ON keys.language = known_forms.language AND keys.key = known_forms.spelling AND keys.fold = chain.fold;

-- found: add the items in an unmatched query's scopes that have one of its forms as a name, each by its best name. The score
-- is 100, minus 5 per rule applied to the word or the name, 3 for another spelling, 1 for an alias, 1 for English as last
-- resort.
INSERT INTO found
WITH hits AS (
    SELECT lookup_forms.lookup, lookup_forms.turned, topic_names.item, min((
        5 * (lookup_forms.rule_count + topic_names.rule_count) + CASE WHEN lookup_forms.key <> topic_names.normalised THEN 3 ELSE 0 END
        + CASE topic_names.kind WHEN 'alias' THEN 1 ELSE 0 END + CASE WHEN lookup_forms.english THEN 1 ELSE 0 END,
        lookup_forms.rule_count + topic_names.rule_count, lookup_forms.position, topic_names.name, topic_names.language
    )) AS hit
    FROM lookup_forms
    JOIN topic_names ON topic_names.language = lookup_forms.name_language AND topic_names.loose = lookup_forms.loose
    -- Short words are weak evidence: one syllable must match a label, three letters must be spelled the same.
    WHERE (length(lookup_forms.loose) > 1 OR topic_names.kind = 'label')
      AND (NOT lookup_forms.english OR length(lookup_forms.loose) > 2)
      AND (
          length(lookup_forms.loose) > 3 OR NOT regexp_matches(lookup_forms.loose, '\p{Latin}')
          OR lookup_forms.key = topic_names.normalised
      )
      -- A last word of one letter is kept: vitamina is not vitamin A.
      AND (lookup_forms.key = topic_names.normalised OR ends_in_one_letter(lookup_forms.key) = ends_in_one_letter(topic_names.normalised))
      -- An inflected form in another spelling must match a label; in English as last resort the spelling must be the same.
      AND (lookup_forms.rule_count = 0 OR topic_names.kind = 'label' OR (lookup_forms.key = topic_names.normalised AND NOT lookup_forms.english))
      AND (lookup_forms.rule_count = 0 OR lookup_forms.key = topic_names.normalised OR NOT lookup_forms.english)
    GROUP BY lookup_forms.lookup, lookup_forms.turned, topic_names.item
),
best AS (
    SELECT unmatched.query, unmatched.query_group, hits.item, min(hits.hit) AS hit
    FROM hits
    JOIN unmatched USING (lookup)
    JOIN query_group_scopes USING (query_group)
    JOIN scopes USING (scope)
    JOIN members ON members.scope = query_group_scopes.scope AND members.item = hits.item
    -- Names of persons and works have cases, and no plural: James Woods is not James Wood, nor The Executioners The Executioner.
    WHERE NOT hits.turned OR scopes.members <> 'instances'
    GROUP BY unmatched.query, unmatched.query_group, hits.item
)
SELECT
    query, query_group, item, CASE hit[2] WHEN 0 THEN 6 ELSE 7 END AS strength, hit[4] AS name, hit[5] AS language,
    100.0 - hit[1] AS score, strength AS grade
FROM best
ANTI JOIN found USING (query, item);

-- outside_matches: a row is an item outside a query's scopes that has one of its forms as its exact name, with a score at
-- least as good as the best inside: inflected matches with an equally good match outside the topic are ambiguous. "bands" is
-- not The Band, since a band is another thing. Forms are those that a name in the query's own scopes has: what else is linked
-- beside it changes nothing.
CREATE OR REPLACE TABLE outside_matches AS
WITH inflected AS (
    SELECT query, query_group, max(score) AS score FROM found SEMI JOIN unmatched USING (query) WHERE strength = 7 GROUP BY query, query_group
),
own_forms AS (
    SELECT DISTINCT inflected.query, lookup_forms.key, lookup_forms.name_language
    FROM inflected
    JOIN unmatched USING (query)
    JOIN lookup_forms ON lookup_forms.lookup = unmatched.lookup
    JOIN topic_names ON topic_names.language = lookup_forms.name_language AND topic_names.loose = lookup_forms.loose
    JOIN query_group_scopes ON query_group_scopes.query_group = inflected.query_group
    JOIN members ON members.scope = query_group_scopes.scope AND members.item = topic_names.item
),
bearers AS (
    SELECT inflected.query, inflected.query_group, name.item, min((
        5 * lookup_forms.rule_count + CASE name.kind WHEN 'alias' THEN 1 ELSE 0 END + CASE WHEN lookup_forms.english THEN 1 ELSE 0 END,
        lookup_forms.position, name.name, name.language
    )) AS hit, any_value(inflected.score) AS least
    FROM inflected
    JOIN unmatched USING (query)
    JOIN lookup_forms ON lookup_forms.lookup = unmatched.lookup AND lookup_forms.rule_count > 0
    JOIN own_forms ON own_forms.query = inflected.query
        AND own_forms.key = lookup_forms.key AND own_forms.name_language = lookup_forms.name_language
    JOIN wikidata.names AS name ON name.language = lookup_forms.name_language AND name.normalised = lookup_forms.key
    GROUP BY inflected.query, inflected.query_group, name.item
)
SELECT query, query_group, item, 7 AS strength, hit[3] AS name, hit[4] AS language, 100.0 - hit[1] AS score, 7 AS grade
FROM bearers
ANTI JOIN found USING (query, item)
WHERE 100.0 - hit[1] >= least;

DELETE FROM outside_matches USING only_pages('outside_matches') AS page WHERE outside_matches.item = page.item;
INSERT INTO found FROM outside_matches;
