-- found: the items in an unmatched ask's scopes that bear one of its forms, each by the best of its names. The score is
-- 100, less 5 for every rule that turned a word, 3 for another spelling, 1 for an alias.
INSERT INTO found
WITH sought AS (
    SELECT lookup, language, fold, turns, key, loose(key) AS loose FROM forms
),
near AS (
    SELECT sought.*, chain.name_language, chain.position
    FROM sought
    SEMI JOIN (SELECT DISTINCT loose FROM spelled WHERE loose <> '') AS known ON known.loose = sought.loose
    JOIN chain ON chain.language = sought.language AND chain.fold = sought.fold
),
hits AS (
    SELECT near.lookup, spelled.item, min((
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
    GROUP BY near.lookup, spelled.item
)
SELECT DISTINCT
    unmatched.ask, hits.item, CASE hits.hit[2] WHEN 0 THEN 6 ELSE 7 END AS strength,
    hits.hit[4] AS name, hits.hit[5] AS language, 100.0 - hits.hit[1] AS score
FROM hits
JOIN unmatched USING (lookup)
JOIN ask_scopes USING (ask)
JOIN members ON members.scope = ask_scopes.scope AND members.item = hits.item
ANTI JOIN found ON found.ask = unmatched.ask AND found.item = hits.item;
