-- found: the items in an unmatched ask's scopes that bear one of its forms, loosely, each by the best of its names.
INSERT INTO found
WITH spelled AS (
    SELECT name.item, name.language, name.name, loose(name.normalised) AS loose
    FROM wikidata.names AS name
    SEMI JOIN (
        FROM members SEMI JOIN (FROM ask_scopes SEMI JOIN unmatched USING (ask)) AS wanted USING (scope)
    ) AS member ON member.item = name.item
    SEMI JOIN chain ON chain.name_language = name.language
),
sought AS (
    SELECT form.lookup, chain.name_language, chain.position, loose(form.key) AS loose, min(form.turns) AS turns
    FROM forms AS form
    JOIN lookups AS lookup USING (lookup)
    JOIN chain ON chain.language = lookup.language AND chain.fold = form.fold
    GROUP BY ALL
),
hits AS (
    SELECT sought.lookup, spelled.item, min((sought.turns, sought.position, spelled.name, spelled.language)) AS hit
    FROM sought
    JOIN spelled ON spelled.language = sought.name_language AND spelled.loose = sought.loose AND sought.loose <> ''
    GROUP BY sought.lookup, spelled.item
)
SELECT DISTINCT
    unmatched.ask, hits.item, CASE hits.hit[1] WHEN 0 THEN 6 ELSE 7 END AS strength,
    hits.hit[3] AS name, hits.hit[4] AS language, 100.0 AS score
FROM hits
JOIN unmatched USING (lookup)
JOIN ask_scopes USING (ask)
JOIN members ON members.scope = ask_scopes.scope AND members.item = hits.item
ANTI JOIN found ON found.ask = unmatched.ask AND found.item = hits.item;
