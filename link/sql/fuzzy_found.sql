-- found: the items that bear a name in `alike`, each by its most alike name; of an ask's, the $kept most alike. The name must
-- be of a language in which the ask's normal form is sought. Numbers, and what tells a father from a son, must be the same.
-- Names of persons must hardly differ, for one letter makes another person (Pete Doherty, Peter Doherty).
-- These, names in English for words of another language, and words in scripts that leave out vowels or write
-- them as marks, must be more alike: there one letter more often makes another name.
INSERT INTO found
WITH bearers AS (
    SELECT members.scope, chain.language, chain.fold, name.normalised AS name, bool_and(chain.english) AS english
    FROM spelled AS name
    SEMI JOIN alike ON alike.name = name.normalised
    JOIN members USING (item)
    JOIN chain ON chain.name_language = name.language
    WHERE name.turns = 0
    GROUP BY ALL
),
close AS (
    SELECT missed.ask, missed.heading, missed.language, missed.scope, alike.name AS key, max(alike.score) AS score
    FROM alike
    JOIN missed USING (scope, key)
    JOIN bearers USING (scope, language, fold, name)
    JOIN scopes USING (scope)
    JOIN missed AS form ON form.ask = missed.ask
    WHERE (alike.hardly OR scopes.occupation IS NULL)
      AND (
          alike.score >= $strict
          OR NOT (bearers.english OR scopes.occupation IS NOT NULL OR regexp_matches(alike.name, '[\p{Arabic}\p{Devanagari}\p{Han}\p{Hangul}]'))
      )
    GROUP BY ALL
    HAVING bool_or(numbers(alike.name) = numbers(form.key))
),
hits AS (
    SELECT close.ask, close.heading, members.item, min((-close.score, chain.position, name.name, name.language)) AS hit
    FROM close
    JOIN chain ON chain.language = close.language
    JOIN spelled AS name ON name.language = chain.name_language AND name.normalised = close.key AND name.turns = 0
    JOIN members ON members.scope = close.scope AND members.item = name.item
    GROUP BY close.ask, close.heading, members.item
)
SELECT ask, heading, item, 8 AS strength, hit[3] AS name, hit[4] AS language, -hit[1] AS score
FROM hits
QUALIFY row_number() OVER (PARTITION BY ask ORDER BY hit[1], item) <= $kept;
