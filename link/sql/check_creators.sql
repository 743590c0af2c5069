-- checked_titles: a row is a title within a mention beside which a creator is named. `its_own`: it is one of the item's, by a
-- whole name or the last word of one; `others`: the item has creators, and one can tell.
CREATE OR REPLACE TABLE checked_titles AS
WITH own_creators AS (
    SELECT DISTINCT told.item, claim.target AS creator
    FROM (SELECT DISTINCT item FROM told_creators) AS told
    JOIN wikidata.claims AS claim ON claim.item = told.item AND claim.property IN ('P50', 'P86', 'P170', 'P175', 'P676')
),
creator_names AS (
    SELECT DISTINCT own.item, unnest([name.normalised, string_split(name.normalised, ' ')[-1]]) AS name
    FROM own_creators AS own
    JOIN wikidata.names AS name ON name.item = own.creator
),
creators AS (
    SELECT DISTINCT told_creators.text
    FROM told_creators
    JOIN wikidata.names AS name ON name.normalised = told_creators.text
    JOIN wikidata.claims AS claim ON claim.item = name.item AND claim.property = 'P31'
    JOIN classes AS class ON class.item = claim.target
    JOIN scopes ON scopes.scope = class.scope AND scopes.occupation IS NOT NULL
)
SELECT
    told.query, told.item, bool_or(told.misplaced) AS misplaced,
    bool_or(told.plainly OR creators.text IS NOT NULL) AS told,
    bool_or(EXISTS (
        FROM creator_names AS own
        WHERE own.item = told.item AND length(own.name) > 1 AND (told.text = own.name OR suffix(told.text, ' ' || own.name))
    )) AS its_own,
    -- Another's name tells, too, where the snapshot lacks the names of the item's own.
    bool_or(told.item IN (SELECT item FROM creator_names) OR (creators.text IS NOT NULL AND told.item IN (SELECT item FROM own_creators))) AS others
FROM told_creators AS told
LEFT JOIN creators ON creators.text = told.text
GROUP BY told.query, told.item;

DELETE FROM found USING checked_titles AS checked
WHERE found.query = checked.query AND found.item = checked.item AND NOT checked.its_own
  AND (checked.misplaced OR (checked.told AND checked.others));

UPDATE found SET strength = 9, grade = 9 FROM checked_titles AS checked
WHERE found.query = checked.query AND found.item = checked.item AND NOT checked.its_own AND checked.told;
