-- A row is where contexts of a data set are asked, by type and over all types ('*'), and what of it has no score, in words.
WITH contexts AS (
    SELECT
        w.model, c.dataset, c.language, c.culture, c.form, c.setting, c.entity_type,
        w.context_id, count(s.score_id) >= any_value(w.entities) AS is_scored, -- with each of its entities
        count(*) FILTER (s.status = 'failed') AS failed
    FROM wanted_scores AS w
    INNER JOIN stored_dataset_contexts AS c ON w.context_id = c.context_id AND c.context_prefix IS NULL
    LEFT JOIN stored_scores AS s ON (w.request_id, w.model, w.topic) = (s.request_id, s.model, s.topic)
    GROUP BY ALL
)
SELECT
    model, dataset, language, culture, form, setting, coalesce(entity_type, '*') AS entity_type,
    concat_ws(
        ', ',
        CASE WHEN count(*) FILTER (NOT is_scored) > 0
            THEN count(*) FILTER (NOT is_scored) || ' of ' || count(*) || ' contexts not scored' END,
        CASE WHEN sum(failed) > 0 THEN sum(failed) || CASE sum(failed) WHEN 1 THEN ' score failed' ELSE ' scores failed' END END
    ) AS lacking
FROM contexts
GROUP BY GROUPING SETS (
    (model, dataset, language, culture, form, setting, entity_type), (model, dataset, language, culture, form, setting)
)
HAVING lacking <> ''
