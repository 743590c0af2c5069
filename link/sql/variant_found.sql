-- found: the items in an unmatched ask's scopes that bear one of its forms, each by the best of its names. The score is
-- 100, less 5 for every rule that turned the word or the name, 3 for another spelling, 1 for an alias.
INSERT INTO found
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
    JOIN keys ON keys.language = known.language AND keys.key = known.spelling AND keys.fold = chain.fold
),
hits AS (
    SELECT near.lookup, spelled.item, min((
        5 * (near.turns + spelled.turns) + CASE WHEN near.key <> spelled.normalised THEN 3 ELSE 0 END
        + CASE spelled.kind WHEN 'alias' THEN 1 ELSE 0 END,
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
