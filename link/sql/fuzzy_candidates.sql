-- found: add the items with a name in `fuzzy_matches`, each by its most similar name; the $kept most similar per query. The
-- name must be in a language of the query's fallback chain. Numbers and generational suffixes must be the same. Names of
-- persons and titles must be near-identical, for one letter makes another (Pete Doherty, Peter Doherty). Persons, English names
-- for other languages, and scripts that omit vowels or write them as marks need a higher score: there one letter more
-- often makes another name.
INSERT INTO found
WITH cut_forms AS (
    SELECT language, key, right(key, length(key) - kept) AS ending
    FROM (
        SELECT
            spelling.language, spelling.key,
            len(list_filter(range(1, length(forms.key) + 1), lambda place: starts_with(spelling.key, forms.key[:place]))) AS kept
        FROM forms
        JOIN spellings AS spelling USING (spelling)
        WHERE forms.turned AND forms.rule_count = 1
          AND EXISTS (FROM fuzzy_queries WHERE fuzzy_queries.language = spelling.language AND fuzzy_queries.key = spelling.key)
    )
    WHERE kept > 2 AND length(key) - kept BETWEEN 2 AND 3
),
bearers AS (
    SELECT members.scope, chain.language, chain.fold, name.normalised AS name, bool_and(chain.english) AS english
    FROM near_names AS name
    SEMI JOIN fuzzy_matches ON fuzzy_matches.name = name.normalised
    JOIN members USING (item)
    JOIN chain ON chain.name_language = name.language
    GROUP BY ALL
),
close AS (
    SELECT fuzzy_queries.query, fuzzy_queries.query_group, fuzzy_queries.language, fuzzy_queries.scope, fuzzy_matches.name AS key, max(fuzzy_matches.score) AS score
    FROM fuzzy_matches
    JOIN fuzzy_queries USING (scope, key)
    JOIN bearers USING (scope, language, fold, name)
    JOIN scopes USING (scope)
    JOIN fuzzy_queries AS form ON form.query = fuzzy_queries.query
    WHERE (fuzzy_matches.near_identical OR (scopes.occupation IS NULL AND scopes.members <> 'instances'))
      AND (
          fuzzy_matches.score >= $strict
          OR NOT (bearers.english OR scopes.occupation IS NOT NULL OR regexp_matches(fuzzy_matches.name, '[\p{Arabic}\p{Devanagari}\p{Han}\p{Hangul}]'))
      )
      -- What tells a title from its plural is no slip.
      AND NOT (scopes.members = 'instances' AND EXISTS (
          FROM forms
          JOIN spellings AS spelling USING (spelling)
          WHERE forms.turned AND forms.key = fuzzy_matches.name
            AND spelling.language = fuzzy_queries.language AND spelling.key = fuzzy_queries.key
      ))
      -- Nor is the ending of a plural: pasties are of pasty, and no pastis. A slip leaves an ending of two or three letters as it is.
      AND NOT EXISTS (
          FROM cut_forms
          WHERE cut_forms.language = fuzzy_queries.language AND cut_forms.key = fuzzy_queries.key
            AND NOT ends_with(fuzzy_matches.name, cut_forms.ending)
      )
    GROUP BY ALL
    HAVING bool_or(numbers(fuzzy_matches.name) = numbers(form.key))
),
hits AS (
    SELECT close.query, close.query_group, members.item, min((-close.score, chain.position, name.name, name.language)) AS hit
    FROM close
    JOIN chain ON chain.language = close.language
    JOIN near_names AS name ON name.language = chain.name_language AND name.normalised = close.key
    JOIN members ON members.scope = close.scope AND members.item = name.item
    GROUP BY close.query, close.query_group, members.item
)
SELECT query, query_group, item, 10 AS strength, hit[3] AS name, hit[4] AS language, -hit[1] AS score, 10 AS grade
FROM hits
QUALIFY row_number() OVER (PARTITION BY query ORDER BY hit[1], item) <= $kept;
