-- inner_hits: a row is a name of the topic inside an unmatched query, known for the topic's sort; `less` is what its form costs.
CREATE OR REPLACE TABLE inner_hits AS
SELECT
    unmatched.query, unmatched.query_group, sorts.sort, topic_names.item, topic_names.name, topic_names.language, inner_names.key,
    inner_names.before, inner_names.after, known_forms.turned,
    5 * (known_forms.rule_count + topic_names.rule_count) + CASE WHEN known_forms.key <> topic_names.normalised THEN 3 ELSE 0 END
    + CASE topic_names.kind WHEN 'alias' THEN 1 ELSE 0 END AS less,
    chain.position
FROM inner_names
JOIN spellings AS spelling USING (spelling)
JOIN keys ON keys.language = spelling.language AND keys.key = spelling.key
JOIN unmatched USING (lookup)
JOIN query_groups AS query_group ON query_group.query_group = unmatched.query_group
JOIN sorts ON sorts.topic = query_group.topic AND list_contains(inner_names.sorts, sorts.sort)
JOIN chain ON chain.language = keys.language AND chain.fold = keys.fold AND NOT chain.english
JOIN known_forms ON known_forms.language = inner_names.language AND known_forms.spelling = inner_names.key
JOIN topic_names ON topic_names.language = chain.name_language AND topic_names.loose = known_forms.loose
WHERE (
      length(known_forms.loose) > 3 OR NOT regexp_matches(known_forms.loose, '\p{Latin}') OR known_forms.key = topic_names.normalised
  )
  AND (length(inner_names.key) > 2 OR NOT regexp_matches(inner_names.key, '^[\p{Latin}\p{N} ]*$'))
  -- One letter is a name in Chinese or Korean alone, beside more than one letter: 一杯茶, not 冰糖.
  AND (length(inner_names.key) > 1 OR (topic_names.kind = 'label' AND length(inner_names.before || inner_names.after) > 1))
  AND ends_in_one_letter(known_forms.key) = ends_in_one_letter(topic_names.normalised)
  AND (known_forms.rule_count + topic_names.rule_count = 0 OR topic_names.kind = 'label' OR known_forms.key = topic_names.normalised);

-- found: add the items of the longest of these names, which reach the topic and are no persons; of bands, where the rest says that they are.
INSERT INTO found
SELECT query, query_group, item, 8 AS strength, hit[3] AS name, hit[4] AS language, 95.0 - hit[1] AS score, 8 AS grade
FROM (
    SELECT hits.query, hits.query_group, hits.item, max(length(hits.key)) AS length, min((hits.less, hits.position, hits.name, hits.language)) AS hit
    FROM inner_hits AS hits
    JOIN query_group_scopes USING (query_group)
    JOIN scopes USING (scope)
    JOIN members ON members.scope = query_group_scopes.scope AND members.item = hits.item
    LEFT JOIN (SELECT item FROM wikidata.claims WHERE property = 'P31' AND target = 5) AS human ON human.item = hits.item
    -- Titles have "the novel" before them; genres are called a novel themselves. "The band" stands before no person.
    WHERE CASE hits.sort
        WHEN 'groups' THEN scopes.occupation IS NOT NULL AND human.item IS NULL
        WHEN 'works' THEN scopes.occupation IS NULL AND scopes.members = 'instances'
        WHEN 'genres' THEN scopes.occupation IS NULL AND scopes.members <> 'instances'
        ELSE scopes.occupation IS NULL
    END
      AND NOT (hits.turned AND scopes.members = 'instances')
    GROUP BY hits.query, hits.query_group, hits.item
    QUALIFY rank() OVER (PARTITION BY hits.query ORDER BY max(length(hits.key)) DESC) = 1
)
ANTI JOIN found USING (query, item);
