-- health: a row is a cell; what was asked and what became of it, in counts. What is not asked, not extracted or not
-- looked up yet can be seen, and is in no metric.
CREATE VIEW health AS
WITH counts AS (
    SELECT model, language, topic, condition, country, asked
    FROM cells
    UNION ALL BY NAME
    SELECT
        model, language, topic, condition, country,
        count(*) FILTER (status = 'ok') AS answered,
        count(*) FILTER (status <> 'ok') AS failed,
        count(*) FILTER (status = 'ok' AND regexp_full_match(text, '[\s\p{Z}]*')) AS empty,
        count(*) FILTER (status = 'ok' AND finish_reason = 'length') AS cut,
        count(*) FILTER (
            status = 'ok' AND split_part(detected_language, '-', 1) <> split_part(language, '-', 1)
        ) AS wrong_language,
        count(*) FILTER (
            status = 'ok' AND detected_language <> language
            AND split_part(detected_language, '-', 1) = split_part(language, '-', 1)
        ) AS other_variant,
        count(*) FILTER (status = 'ok' AND detected_language IS NULL) AS undecided_language,
        count(*) FILTER (status = 'ok' AND script_share < 0.5) AS wrong_script
    FROM responses
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        model, language, topic, condition, country,
        count(*) FILTER (status = 'ok') AS extracted,
        count(*) FILTER (status <> 'ok') AS extraction_failed
    FROM extractions
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        model, language, topic, condition, country,
        count(*) FILTER (counted AND NOT hallucinated) AS mentions,
        count(*) FILTER (counted AND hallucinated) AS hallucinated,
        count(*) FILTER (NOT counted) AS uncounted
    FROM mentions
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        model, language, topic, condition, country,
        sum(linked) AS linked, sum(ambiguous) AS ambiguous, sum(no_candidate) AS no_candidate, sum(no_path) AS no_path,
        sum(awaiting) AS awaiting
    FROM cell_items
    GROUP BY ALL
)
SELECT
    model, language, topic, condition, country,
    coalesce(sum(COLUMNS(* EXCLUDE (model, language, topic, condition, country))), 0)::BIGINT
FROM counts
GROUP BY ALL;

-- health_by_language: a row is a model and a language; the counts of `health` added up over its cells.
CREATE VIEW health_by_language AS
SELECT model, language, sum(COLUMNS(* EXCLUDE (model, language, topic, condition, country)))::BIGINT
FROM health
GROUP BY ALL;

-- health_by_model: a row is a model; the counts of `health` added up over its cells.
CREATE VIEW health_by_model AS
SELECT model, sum(COLUMNS(* EXCLUDE (model, language)))::BIGINT
FROM health_by_language
GROUP BY ALL;
