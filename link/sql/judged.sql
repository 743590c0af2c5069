-- judged: a row is a candidate of an ask, with its way to a root if it has one, and its place among those that have.
CREATE TABLE judged AS
SELECT
    found.*,
    reached.distance,
    reached.path,
    coalesce(reached.path[-1], CASE WHEN reached.distance = 0 THEN found.item END) AS root,
    coalesce(item.sitelinks, 0) AS sitelinks,
    CASE WHEN reached.distance IS NOT NULL THEN row_number() OVER (
        PARTITION BY found.ask, reached.distance IS NULL
        ORDER BY found.strength, found.score DESC, reached.distance, item.sitelinks DESC NULLS LAST, found.item
    ) END AS rank
FROM found
LEFT JOIN reached USING (scope, item)
LEFT JOIN wikidata.items AS item ON item.item = found.item;

-- rivals: a row is an ask with at least one survivor: the first, and what the second has to say against it.
CREATE TABLE rivals AS
SELECT
    first.*,
    coalesce(
        second.strength = first.strength AND second.score = first.score AND second.distance = first.distance
        AND first.sitelinks + 1 < $clear_lead * (second.sitelinks + 1),
        false
    ) AS ambiguous
FROM judged AS first
LEFT JOIN judged AS second ON second.ask = first.ask AND second.rank = 2
WHERE first.rank = 1;
