-- The tables of a starter; `entities` has the items that it takes.

-- taken_items: a row is an item of the starter, with the first of these roles that it has: entity, class on the path of an entity,
-- creator of an entity, country of an entity or creator.
CREATE TABLE taken_items AS
WITH classes AS (
    SELECT DISTINCT unnest(belongs.path) AS item FROM belongs SEMI JOIN entities USING (item)
),
makers AS (
    SELECT DISTINCT claim.target AS item
    FROM wikidata.claims AS claim SEMI JOIN entities USING (item)
    WHERE claim.property IN ('P50', 'P86', 'P170', 'P175')
),
countries AS (
    SELECT DISTINCT claim.target AS item
    FROM wikidata.claims AS claim SEMI JOIN (SELECT item FROM entities UNION FROM makers) AS own USING (item)
    WHERE claim.property IN ('P495', 'P17', 'P27')
),
roles AS (
    SELECT item, 0 AS place, 'entity' AS role FROM entities
    UNION ALL SELECT item, 1, 'class' FROM classes
    UNION ALL SELECT item, 2, 'creator' FROM makers
    UNION ALL SELECT item, 3, 'country' FROM countries
)
SELECT roles.item, min_by(roles.role, roles.place) AS role, any_value(known.sitelinks) AS sitelinks
FROM roles
JOIN wikidata.items AS known USING (item)
GROUP BY roles.item
ORDER BY roles.item;

-- taken_names: a row is a name. Entities, creators and countries have all that the snapshot has in the languages, but for names
-- that mean something else; classes have their English label, for reading.
CREATE TABLE taken_names AS
SELECT name.item, name.language, name.name, name.kind
FROM wikidata.names AS name
JOIN taken_items AS taken USING (item)
SEMI JOIN starter_name_languages USING (language)
ANTI JOIN names_of_others USING (item, language, name)
ANTI JOIN ordinary_words USING (language, normalised)
WHERE taken.role <> 'class' OR (name.kind = 'label' AND name.language = 'en')
ORDER BY name.language, name.item, name.kind DESC, name.name;

-- taken_claims: a row is a claim: of entities all that linking reads, of classes the classes above, of creators who they are and where from.
CREATE TABLE taken_claims AS
SELECT claim.item, claim.property, claim.target, claim.ended
FROM wikidata.claims AS claim
JOIN taken_items AS taken USING (item)
WHERE CASE taken.role
    WHEN 'entity' THEN true
    WHEN 'class' THEN claim.property IN ('P31', 'P279')
    WHEN 'creator' THEN claim.property IN ('P31', 'P106', 'P27', 'P19', 'P495')
    ELSE false
END
ORDER BY claim.property, claim.item, claim.target;
