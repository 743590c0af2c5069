-- ways: a row is a candidate that lies in one of its ask's scopes, by its way into the best of them: that of the ask's own
-- kind, else the nearest.
CREATE TABLE ways AS
WITH best AS (
    SELECT found.ask, found.item, any_value(found.heading) AS heading,
        min((NOT own.own, reached.distance, own.scope)) AS first
    FROM found
    JOIN heading_scopes AS own USING (heading)
    JOIN reached USING (scope, item)
    GROUP BY found.ask, found.item
)
SELECT best.ask, best.item, best.first, (own.reached, reached.path) AS way
FROM best
JOIN heading_scopes AS own ON own.heading = best.heading AND own.scope = best.first[3]
JOIN reached ON reached.scope = best.first[3] AND reached.item = best.item;

-- judged: a row is a candidate of an ask, with its way to a root if it has one, and its place among those that have.
CREATE TABLE judged AS
SELECT
    found.*,
    NOT ways.first[1] AS own,
    ways.first[2] AS distance,
    ways.way[1] AS reached,
    ways.way[2] AS path,
    coalesce(ways.way[2][-1], CASE WHEN ways.first[2] = 0 THEN found.item END) AS root,
    coalesce(item.sitelinks, 0) AS sitelinks,
    CASE WHEN ways.item IS NOT NULL THEN row_number() OVER (
        PARTITION BY found.ask, ways.item IS NULL
        ORDER BY
            ways.first[1], found.strength, found.score DESC, ways.first[2], item.sitelinks DESC NULLS LAST, found.item
    ) END AS rank
FROM found
LEFT JOIN ways USING (ask, item)
LEFT JOIN wikidata.items AS item ON item.item = found.item;

-- seconds: a row is an ask with the best survivor that the first has to stand against: not a class below the first, or an
-- instance of one, for a name that both bear means the general one (car, and passenger car).
CREATE TABLE seconds AS
SELECT first.ask, min(second.rank) AS rank
FROM judged AS first
JOIN judged AS second ON second.ask = first.ask AND second.rank > 1
WHERE first.rank = 1 AND NOT list_contains(coalesce(second.path, []), first.item)
GROUP BY first.ask;

-- rivals: a row is an ask with at least one survivor: the first, and what the second has to say against it.
CREATE TABLE rivals AS
SELECT
    first.*,
    coalesce(
        second.own = first.own AND second.strength = first.strength AND second.score = first.score
        AND second.distance <= first.distance + 1 AND first.sitelinks + 1 < $clear_lead * (second.sitelinks + 1),
        false
    ) AS ambiguous
FROM judged AS first
LEFT JOIN seconds USING (ask)
LEFT JOIN judged AS second ON second.ask = first.ask AND second.rank = seconds.rank
WHERE first.rank = 1;
