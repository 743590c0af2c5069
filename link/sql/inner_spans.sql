-- inner_spans: a row is a part of a normal form that led nowhere, and a name of an item of the topics. Where
-- spaces set words apart it may stand anywhere between them; elsewhere at the beginning or the end alone.
CREATE OR REPLACE TABLE inner_spans AS
WITH unfound AS (
    SELECT DISTINCT keys.language, keys.key, carrier.spaced, carrier.head_last
    FROM unmatched
    JOIN keys USING (lookup)
    JOIN carrier_languages AS carrier ON carrier.language = keys.language
    ANTI JOIN found ON found.query = unmatched.query
    WHERE length(keys.key) <= 120 AND (NOT carrier.spaced OR contains(keys.key, ' '))
),
cuts AS MATERIALIZED (
    SELECT language, spaced, head_last, key AS whole, boundaries(key, spaced) AS places FROM unfound
),
spans AS (
    SELECT language, spaced, head_last, whole, first, last, trim(whole[first + 1:last], ' ,;:') AS key
    FROM (
        SELECT * EXCLUDE (places), unnest(places) AS last
        FROM (SELECT *, unnest(places) AS first FROM cuts WHERE spaced AND len(places) BETWEEN 3 AND 12)
        UNION ALL
        SELECT * EXCLUDE (places), 0 AS first, unnest(places[2:-2]) AS last
        FROM cuts
        WHERE NOT spaced AND len(places) BETWEEN 3 AND 40
        UNION ALL
        SELECT * EXCLUDE (places), unnest(places[2:-2]) AS first, length(whole) AS last
        FROM cuts
        WHERE NOT spaced AND len(places) BETWEEN 3 AND 40
    )
    WHERE last > first AND last - first < length(whole)
)
FROM spans
SEMI JOIN (
    FROM wikidata.names AS name
    SEMI JOIN topic_items USING (item)
    SEMI JOIN chain ON chain.name_language = name.language
) AS name ON name.normalised = spans.key
WHERE length(spans.key) > CASE WHEN regexp_matches(spans.key, '\p{Latin}') THEN 2 ELSE 1 END;

-- inner_texts: a row is such a name.
CREATE OR REPLACE TABLE inner_texts AS
SELECT item, language, name, kind, normalised
FROM wikidata.names AS name
SEMI JOIN topic_items USING (item)
SEMI JOIN inner_spans ON inner_spans.key = name.normalised
SEMI JOIN chain ON chain.name_language = name.language;
