-- pool: a row is a name, in its normal form, of a block.
CREATE TABLE pool AS
WITH blocks AS (
    SELECT DISTINCT missed.block, missed.scope, chain.name_language, missed.anchor
    FROM missed JOIN chain USING (language, fold)
),
named AS (
    SELECT DISTINCT members.scope, name.language AS name_language, name.normalised AS key
    FROM members
    JOIN wikidata.names AS name ON name.item = members.item
    WHERE length(name.normalised) >= $shortest
      AND members.scope IN (SELECT scope FROM blocks) AND name.language IN (SELECT name_language FROM blocks)
)
SELECT DISTINCT blocks.block, named.key
FROM (SELECT scope, name_language, key, unnest(anchors(key)) AS anchor FROM named) AS named
JOIN blocks USING (scope, name_language, anchor);
