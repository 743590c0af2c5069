-- item: one row; what Wikidata says of an item.
SELECT
    e.qid, e.label, e.description, e.labels,
    (
        SELECT list({'country': coalesce(country, country_qid), 'property': property} ORDER BY property, country_qid)
        FROM entity_countries AS c
        WHERE c.qid = e.qid
    ) AS countries
FROM entities AS e
WHERE e.qid = $qid;
