-- A row is a collected item: names, description, countries with the properties that gave them, sitelinks, and the path to
-- the class. `label` is in the language or its fallback chain, never English as a last resort; `description` may be English.
-- `labels` are those in all languages that were named, each in its chain; `in_languages` does not count those of Wikidata's
-- language `mul`, which may be in another script. Items with the most sitelinks come first.
WITH collected AS (
    SELECT reached.item, reached.distance, reached.path
    FROM reached
    WHERE $any_country OR EXISTS (
        FROM entity_countries AS origin JOIN wanted_countries ON place IN (country, country_qid) WHERE origin.qid = 'Q' || reached.item
    )
),
named AS (
    SELECT name.item, name.name, name.kind, name.language, chain.position
    FROM collected
    JOIN wikidata.names AS name USING (item)
    JOIN name_chain AS chain ON chain.language = name.language AND NOT chain.english
),
in_each AS (
    SELECT name.item, chain.of, min((chain.position, name.name, name.language)) AS first
    FROM collected
    JOIN wikidata.names AS name USING (item)
    JOIN name_chains AS chain ON chain.language = name.language AND NOT chain.english
    WHERE name.kind = 'label'
    GROUP BY ALL
),
all_labels AS (
    SELECT item, count(*) FILTER (first[3] <> 'mul') AS in_languages, map_from_entries(list((of, first[2]) ORDER BY of)) AS labels
    FROM in_each
    GROUP BY item
),
labels AS (
    SELECT item, min((position, name, language)) AS first FROM named WHERE kind = 'label' GROUP BY item
),
aliases AS (
    SELECT named.item, list(DISTINCT named.name ORDER BY named.name) AS aliases
    FROM named LEFT JOIN labels USING (item)
    WHERE named.kind = 'alias' AND named.name IS DISTINCT FROM labels.first[2]
    GROUP BY named.item
),
english AS (
    SELECT item, min(name) AS english
    FROM collected JOIN wikidata.names USING (item)
    WHERE language = 'en' AND kind = 'label'
    GROUP BY item
),
described AS (
    SELECT item, min((chain.position, said.description)) AS first
    FROM collected
    JOIN wikidata.descriptions AS said USING (item)
    JOIN name_chain AS chain USING (language)
    GROUP BY item
),
origins AS (
    SELECT
        qid,
        list(DISTINCT coalesce(country, country_qid) ORDER BY coalesce(country, country_qid)) AS countries,
        list(DISTINCT country_qid ORDER BY country_qid) AS country_qids,
        list(DISTINCT property ORDER BY property) AS properties
    FROM entity_countries
    GROUP BY qid
)
SELECT
    'Q' || collected.item AS qid,
    labels.first[2] AS label,
    labels.first[3] AS label_language,
    english.english,
    coalesce(aliases.aliases, []) AS aliases,
    described.first[2] AS description,
    coalesce(origins.countries, []) AS countries,
    coalesce(origins.country_qids, []) AS country_qids,
    coalesce(origins.properties, []) AS country_properties,
    item.sitelinks,
    collected.distance,
    list_transform(collected.path, lambda step: 'Q' || step) AS path,
    coalesce(all_labels.in_languages, 0) AS in_languages,
    coalesce(all_labels.labels, MAP {}) AS labels
FROM collected
JOIN wikidata.items AS item USING (item)
LEFT JOIN labels USING (item)
LEFT JOIN aliases USING (item)
LEFT JOIN english USING (item)
LEFT JOIN described USING (item)
LEFT JOIN all_labels USING (item)
LEFT JOIN origins ON origins.qid = 'Q' || collected.item
WHERE (NOT $labelled OR labels.item IS NOT NULL) AND coalesce(all_labels.in_languages, 0) >= $at_least
ORDER BY item.sitelinks DESC NULLS LAST, collected.item
LIMIT $most
