-- ways: a row is a candidate that lies in one of its ask's scopes, by its way into the best of them: that of the ask's own
-- kind, else the nearest. `rank` is its place among the ask's; `path` is written as the tables have it.
CREATE TABLE ways AS
WITH best AS (
    SELECT
        found.ask,
        found.item,
        any_value((found.heading, found.strength, found.score)) AS found,
        min((NOT own.own, reached.distance, own.scope)) AS first
    FROM found
    JOIN heading_scopes AS own USING (heading)
    JOIN reached USING (scope, item)
    GROUP BY found.ask, found.item
)
SELECT
    best.ask,
    best.item,
    NOT best.first[1] AS own,
    own.reached,
    best.first[2] AS distance,
    list_transform(reached.path, lambda step: 'Q' || step) AS path,
    'Q' || coalesce(reached.path[-1], best.item) AS root,
    row_number() OVER (
        PARTITION BY best.ask
        ORDER BY
            best.first[1], best.found[2], best.found[3] DESC, best.first[2], item.sitelinks DESC NULLS LAST, best.item
    ) AS rank
FROM best
JOIN heading_scopes AS own ON own.heading = best.found[1] AND own.scope = best.first[3]
JOIN reached ON reached.scope = best.first[3] AND reached.item = best.item
LEFT JOIN wikidata.items AS item ON item.item = best.item;

-- judged: a row is a candidate of an ask, with its way to a root if it has one, and its place among those that have.
CREATE TABLE judged AS
SELECT
    found.*,
    ways.own,
    ways.distance,
    ways.reached,
    ways.path,
    ways.root,
    coalesce(item.sitelinks, 0) AS sitelinks,
    ways.rank
FROM found
LEFT JOIN ways USING (ask, item)
LEFT JOIN wikidata.items AS item ON item.item = found.item;

-- seconds: a row is an ask with the best survivor that the first has to stand against: not a class below the first, or an
-- instance of one, for a name that both bear means the general one (car, and passenger car).
CREATE TABLE seconds AS
SELECT first.ask, min(second.rank) AS rank
FROM ways AS first
JOIN ways AS second ON second.ask = first.ask AND second.rank > 1
WHERE first.rank = 1 AND NOT list_contains(coalesce(second.path, []), 'Q' || first.item)
GROUP BY first.ask;

-- rivals: a row is an ask with at least one survivor: the first, how many there are, and what speaks against the first:
-- the second, or that the name is another's outside the topic by an earlier rule: in the ask's own language where the first
-- has it in English, or as it stands, or less turned, where it had to be spelled otherwise or turned.
CREATE TABLE rivals AS
SELECT
    first.*,
    survivors.survivors,
    coalesce(
        second.own = first.own AND second.strength = first.strength AND second.score = first.score
        AND second.distance <= first.distance + 1 AND first.sitelinks + 1 < $clear_lead * (second.sitelinks + 1),
        false
    ) AS close,
    coalesce(others.strength // 3 < first.strength // 3 OR others.score > first.score, false) AS otherwise,
    close OR otherwise AS ambiguous
FROM judged AS first
JOIN (SELECT ask, count(*) AS survivors FROM ways GROUP BY ask) AS survivors USING (ask)
LEFT JOIN seconds USING (ask)
LEFT JOIN judged AS second ON second.ask = first.ask AND second.rank = seconds.rank
LEFT JOIN (
    SELECT ask, min(strength) AS strength, max(score) AS score
    FROM judged SEMI JOIN ways USING (ask) WHERE rank IS NULL GROUP BY ask
) AS others ON others.ask = first.ask
WHERE first.rank = 1;
