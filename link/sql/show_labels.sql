-- A row is an item of `linked_labels` with its English label, or the best substitute.
SELECT item, min_by(name.name, (CASE name.language WHEN 'en' THEN 0 WHEN 'mul' THEN 1 ELSE 2 END, name.language))
FROM linked_labels JOIN wikidata.names AS name USING (item)
WHERE name.kind = 'label'
GROUP BY item
