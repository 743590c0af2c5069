-- turned_found: a row is an item in an unmatched ask's scopes that bears one of its forms, by the best of its names. The
-- score is 100, less 5 for every rule that turned a word, 3 for another spelling, 1 for an alias. Where an English name
-- matched, only forms in the text's own language count that are spelled as the name is.
CREATE TABLE turned_found AS
WITH sought AS (
    SELECT spelling, turns, key, loose(key) AS loose
    FROM (SELECT spelling, 0 AS turns, key FROM spellings UNION ALL SELECT spelling, turns, key FROM forms)
),
known AS (
    SELECT spelling.language, spelling.key AS spelling, sought.turns, sought.key, sought.loose
    FROM sought
    -- Asked of `spelled`, where it is written down: of `sought` it would be worked out once more.
    SEMI JOIN (FROM spelled WHERE loose <> '') AS spelled ON spelled.loose = sought.loose
    JOIN spellings AS spelling USING (spelling)
),
near AS (
    SELECT keys.lookup, known.turns, known.key, known.loose, chain.name_language, chain.position, chain.english
    FROM known
    JOIN chain ON chain.language = known.language
    JOIN keys ON keys.key = known.spelling AND keys.fold = chain.fold
    JOIN lookups AS lookup ON lookup.lookup = keys.lookup AND lookup.language = known.language
),
hits AS (
    SELECT
        near.lookup,
        spelled.item,
        near.turns > 0 AND NOT near.english AND near.key = spelled.normalised AS own,
        min((
            5 * near.turns + CASE WHEN near.key <> spelled.normalised THEN 3 ELSE 0 END
            + CASE spelled.kind WHEN 'alias' THEN 1 ELSE 0 END,
            near.turns, near.position, spelled.name, spelled.language
        )) AS hit
    FROM near
    JOIN spelled ON spelled.language = near.name_language AND spelled.loose = near.loose
    -- Short words say little once they are cut: one syllable must be a label, three letters must be spelled as they are.
    WHERE (length(near.loose) > 1 OR spelled.kind = 'label')
      AND (
          length(near.loose) > 3 OR NOT regexp_matches(near.loose, '\p{Latin}')
          OR near.key = spelled.normalised
      )
    GROUP BY ALL
)
SELECT unmatched.ask, any_value(unmatched.heading) AS heading, hits.item, unmatched.english, min(hits.hit) AS hit
FROM hits
JOIN unmatched ON unmatched.lookup = hits.lookup AND (hits.own OR NOT unmatched.english)
JOIN heading_scopes USING (heading)
JOIN members ON members.scope = heading_scopes.scope AND members.item = hits.item
GROUP BY unmatched.ask, unmatched.english, hits.item;

-- elsewhere: a row is an ask with an English name, whose form in its own language means an item that the name does not.
CREATE TABLE elsewhere AS
SELECT DISTINCT turned.ask FROM turned_found AS turned ANTI JOIN found USING (ask, item) WHERE turned.english;

-- found: these items. Where the English name says no less than the form of the word, it stands; where the form means
-- others, too (Tortillas, in English one dish, in German many of two), the form in the text's own language goes first.
DELETE FROM found USING turned_found AS turned, elsewhere
WHERE found.ask = elsewhere.ask AND found.ask = turned.ask AND found.item = turned.item;

INSERT INTO found
SELECT
    turned.ask, turned.heading, turned.item,
    CASE WHEN turned.english THEN 3 WHEN turned.hit[2] = 0 THEN 7 ELSE 8 END AS strength,
    turned.hit[4] AS name, turned.hit[5] AS language, 100.0 - turned.hit[1] AS score
FROM turned_found AS turned
ANTI JOIN found USING (ask, item);
