-- consensus: a row is a pair of languages (`language` < `other_language`) in which the same model was asked about the
-- same topic and country under the same condition: the items that both gave, over the items that either gave. NULL
-- when neither gave one, or when the diversity of one of the two is NULL.
CREATE VIEW consensus AS
WITH items AS MATERIALIZED (SELECT * FROM cell_items),
sets AS MATERIALIZED (
    SELECT
        model, language, topic, condition, country,
        count(*) FILTER (linked > 0) AS entities,
        count(*) FILTER (linked + ambiguous > 0) AS entities_with_ambiguous,
        sum(responses)::BIGINT AS responses,
        sum(linked)::BIGINT AS linked,
        looked_up(sum(responses), sum(linked + ambiguous + no_candidate + no_path + awaiting), sum(awaiting)) AS known
    FROM items
    GROUP BY ALL
),
shared AS (
    SELECT
        a.model, a.language, b.language AS other_language, a.topic, a.condition, a.country,
        count(*) FILTER (a.linked > 0 AND b.linked > 0) AS shared,
        count(*) AS shared_with_ambiguous
    FROM items AS a
    INNER JOIN items AS b
        ON a.qid = b.qid AND a.model = b.model AND a.topic = b.topic AND a.condition = b.condition
        AND a.country IS NOT DISTINCT FROM b.country
    WHERE a.language < b.language
    GROUP BY ALL
),
pairs AS (
    SELECT
        a.model, a.language, b.language AS other_language, a.topic, a.condition, a.country,
        coalesce(s.shared, 0) AS shared, a.entities, b.entities AS other_entities,
        coalesce(s.shared_with_ambiguous, 0) AS shared_with_ambiguous,
        a.entities_with_ambiguous + b.entities_with_ambiguous AS both_with_ambiguous,
        a.responses, b.responses AS other_responses, a.linked, b.linked AS other_linked,
        a.known AND b.known AS known
    FROM sets AS a
    INNER JOIN sets AS b
        ON a.model = b.model AND a.topic = b.topic AND a.condition = b.condition
        AND a.country IS NOT DISTINCT FROM b.country
    LEFT JOIN shared AS s
        ON a.model = s.model AND a.language = s.language AND b.language = s.other_language
        AND a.topic = s.topic AND a.condition = s.condition AND a.country IS NOT DISTINCT FROM s.country
    WHERE a.language < b.language
)
SELECT
    model, language, other_language, topic, condition, country,
    CASE WHEN known THEN shared / nullif(entities + other_entities - shared, 0) END AS consensus,
    CASE WHEN known THEN shared_with_ambiguous / nullif(both_with_ambiguous - shared_with_ambiguous, 0) END
        AS consensus_with_ambiguous,
    shared, entities, other_entities, responses, other_responses, linked, other_linked
FROM pairs;
