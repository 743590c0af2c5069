-- found: the items that bear a name in `alike`, each by its most alike name; of an ask's, the $kept most alike.
INSERT INTO found
WITH hits AS (
    SELECT ask.ask, members.item, min((-alike.score, chain.position, name.name, name.language)) AS hit
    FROM alike
    JOIN asks AS ask USING (ask)
    JOIN chain ON chain.language = ask.language
    JOIN wikidata.names AS name ON name.language = chain.name_language AND name.normalised = alike.key
    JOIN ask_scopes AS own ON own.ask = ask.ask AND own.own
    JOIN members ON members.scope = own.scope AND members.item = name.item
    GROUP BY ask.ask, members.item
)
SELECT ask, item, 8 AS strength, hit[3] AS name, hit[4] AS language, -hit[1] AS score
FROM hits
QUALIFY row_number() OVER (PARTITION BY ask ORDER BY hit[1], item) <= $kept;
