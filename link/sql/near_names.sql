-- A row is a name of an item that reaches a scope of $topic, with the same first letter and about the same length.
SELECT
    name.item, min_by(name.language, (list_position($languages, name.language), name.name)) AS language,
    min_by(name.name, (list_position($languages, name.language), name.name)) AS name, name.normalised
FROM wikidata.names AS name
SEMI JOIN (FROM members JOIN topic_scopes USING (scope) WHERE topic = $topic) AS member USING (item)
WHERE name.language IN (SELECT unnest($languages)) AND name.normalised >= $first AND name.normalised < $first || chr(1114111)
    AND length(name.normalised) BETWEEN $longest * 0.7 AND $longest * 1.4
GROUP BY name.item, name.normalised
ORDER BY name.normalised, name.item
