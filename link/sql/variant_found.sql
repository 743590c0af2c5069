-- known: a row is a form of a spelling that is near to a name in some scope.
CREATE OR REPLACE TABLE known AS
WITH sought AS (
    SELECT spelling, turns, key, loose(key) AS loose
    FROM (SELECT spelling, 0 AS turns, key FROM spellings UNION ALL SELECT spelling, turns, key FROM forms)
)
SELECT spelling.language, spelling.key AS spelling, sought.turns, sought.key, sought.loose
FROM sought
-- Asked of `spelled`, where it is written down: of `sought` it would be worked out once more.
SEMI JOIN (FROM spelled WHERE loose <> '') AS spelled ON spelled.loose = sought.loose
JOIN spellings AS spelling USING (spelling);

-- near: a row is such a form of an unmatched lookup, in a language in which it is sought.
CREATE OR REPLACE VIEW near AS
SELECT keys.lookup, known.turns, known.key, known.loose, chain.name_language, chain.position, chain.english
FROM known
JOIN chain ON chain.language = known.language
JOIN keys ON keys.language = known.language AND keys.key = known.spelling AND keys.fold = chain.fold;

-- found: the items in an unmatched ask's scopes that bear one of its forms, each by the best of its names. The score is
-- 100, less 5 for every rule that turned the word or the name, 3 for another spelling, 1 for an alias, 1 for English after
-- another language.
INSERT INTO found
WITH hits AS (
    SELECT near.lookup, spelled.item, min((
        5 * (near.turns + spelled.turns) + CASE WHEN near.key <> spelled.normalised THEN 3 ELSE 0 END
        + CASE spelled.kind WHEN 'alias' THEN 1 ELSE 0 END + CASE WHEN near.english THEN 1 ELSE 0 END,
        near.turns + spelled.turns, near.position, spelled.name, spelled.language
    )) AS hit
    FROM near
    JOIN spelled ON spelled.language = near.name_language AND spelled.loose = near.loose
    -- Short words say little once they are cut: one syllable must be a label, three letters must be spelled as they are.
    WHERE (length(near.loose) > 1 OR spelled.kind = 'label')
      AND (
          length(near.loose) > 3 OR NOT regexp_matches(near.loose, '\p{Latin}')
          OR near.key = spelled.normalised
      )
      -- A last word of one letter stays a word: vitamina is not vitamin A.
      AND (near.key = spelled.normalised OR one_letter(near.key) = one_letter(spelled.normalised))
      -- A turned word that is spelled otherwise, too, must meet a label; in English after another language, as it stands.
      AND (near.turns = 0 OR spelled.kind = 'label' OR (near.key = spelled.normalised AND NOT near.english))
      AND (near.turns = 0 OR near.key = spelled.normalised OR NOT near.english)
    GROUP BY near.lookup, spelled.item
)
SELECT DISTINCT
    unmatched.ask, unmatched.heading, hits.item, CASE hits.hit[2] WHEN 0 THEN 6 ELSE 7 END AS strength,
    hits.hit[4] AS name, hits.hit[5] AS language, 100.0 - hits.hit[1] AS score
FROM hits
JOIN unmatched USING (lookup)
JOIN heading_scopes USING (heading)
JOIN members ON members.scope = heading_scopes.scope AND members.item = hits.item
ANTI JOIN found ON found.ask = unmatched.ask AND found.item = hits.item;

-- elsewhere: a row is an item outside of an ask's scopes that bears one of its forms as it stands, by a score at least as
-- good as the best inside: bands are not The Band, where a band is another thing.
CREATE OR REPLACE TABLE elsewhere AS
WITH turned AS (
    SELECT ask, heading, max(score) AS score FROM found SEMI JOIN unmatched USING (ask) WHERE strength = 7 GROUP BY ask, heading
),
bearers AS (
    SELECT turned.ask, turned.heading, name.item, min((
        5 * near.turns + CASE name.kind WHEN 'alias' THEN 1 ELSE 0 END + CASE WHEN near.english THEN 1 ELSE 0 END,
        near.position, name.name, name.language
    )) AS hit, any_value(turned.score) AS least
    FROM turned
    JOIN unmatched USING (ask)
    JOIN near ON near.lookup = unmatched.lookup AND near.turns > 0
    JOIN wikidata.names AS name ON name.language = near.name_language AND name.normalised = near.key
    GROUP BY turned.ask, turned.heading, name.item
)
SELECT ask, heading, item, 7 AS strength, hit[3] AS name, hit[4] AS language, 100.0 - hit[1] AS score
FROM bearers
ANTI JOIN found USING (ask, item)
WHERE 100.0 - hit[1] >= least;

DELETE FROM elsewhere USING only_pages('elsewhere') AS page WHERE elsewhere.item = page.item;
INSERT INTO found FROM elsewhere;
