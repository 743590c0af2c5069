-- found: the items that bear a name in `alike`, each by its most alike name; of an ask's, the $kept most alike. Numbers,
-- and what tells a father from a son, must be the same. Names of persons, and words in scripts that leave out vowels or
-- write them as marks, must be more alike: there one letter more often makes another name.
INSERT INTO found
WITH close AS (
    SELECT alike.ask, ask.language, own.scope, alike.key, max(alike.score) AS score
    FROM alike
    JOIN asks AS ask USING (ask)
    JOIN ask_scopes AS own ON own.ask = alike.ask AND own.own
    JOIN scopes ON scopes.scope = own.scope
    JOIN missed ON missed.ask = alike.ask
    WHERE numbers(alike.key) = numbers(missed.key)
      AND (alike.score >= $strict
           OR NOT (scopes.occupation IS NOT NULL OR regexp_matches(alike.key, '[\p{Arabic}\p{Devanagari}]')))
    GROUP BY ALL
),
hits AS (
    SELECT close.ask, members.item, min((-close.score, chain.position, name.name, name.language)) AS hit
    FROM close
    JOIN chain ON chain.language = close.language
    JOIN wikidata.names AS name ON name.language = chain.name_language AND name.normalised = close.key
    JOIN members ON members.scope = close.scope AND members.item = name.item
    GROUP BY close.ask, members.item
)
SELECT ask, item, 8 AS strength, hit[3] AS name, hit[4] AS language, -hit[1] AS score
FROM hits
QUALIFY row_number() OVER (PARTITION BY ask ORDER BY hit[1], item) <= $kept;
