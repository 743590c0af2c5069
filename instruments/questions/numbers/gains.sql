-- A row is a question under a condition as one reader reads the answers of a study: means over its draws, orders and
-- samples. What was not answered, or not asked yet, is in `draws` and not in `answered`; it belongs to every reader.
WITH studies AS (
    SELECT DISTINCT dataset, language, model, method, reader, wording
    FROM question_readings
    WHERE dataset = $dataset AND reader <> '-'
),
asked AS (
    SELECT
        s.*, q.question_id, q.unit, q.kind, coalesce(q.facets['type'], '') AS type, q.facets['pair'] AS pair,
        q.facets['condition'] AS condition, coalesce(q.facets['concepts']::DOUBLE, 0) AS concepts,
        (q.facets['gives_away'] IS NOT DISTINCT FROM 'yes')::DOUBLE AS gives_away
    FROM studies AS s
    INNER JOIN questions AS q
        ON (q.set, q.language) = (s.dataset, s.language) AND coalesce(q.facets['model'], s.model) = s.model
),
read AS (
    SELECT
        a.*, CASE WHEN r.answer_id IS NULL THEN 'missing' WHEN r.outcome = 'failed' THEN 'failed' ELSE 'ok' END AS status,
        r.matched, coalesce(r."right", false) AS is_right, r.role, r.outcome IS NOT DISTINCT FROM 'refusal' AS is_refusal,
        r.outcome, r.picked
    FROM asked AS a
    LEFT JOIN question_readings AS r
        ON (r.model, r.method, r.wording, r.question_id) = (a.model, a.method, a.wording, a.question_id)
        AND r.reader IN (a.reader, '-')
)
SELECT
    dataset, language, model, method, reader, type, wording, unit, pair, condition,
    count(*) AS draws,
    count(*) FILTER (status = 'ok') AS answered,
    avg(CASE WHEN kind = 'open' THEN matched ELSE is_right::DOUBLE END) FILTER (status = 'ok') AS accuracy,
    avg((role IS NOT DISTINCT FROM 'biased')::DOUBLE) FILTER (status = 'ok') AS biased,
    avg((picked IS NOT NULL AND NOT is_right AND role IS DISTINCT FROM 'biased')::DOUBLE) FILTER (status = 'ok') AS other,
    avg(is_refusal::DOUBLE) FILTER (status = 'ok') AS refusal,
    avg((outcome IN ('tie', 'unread'))::DOUBLE) FILTER (status = 'ok') AS unread,
    avg(concepts) AS concepts,
    avg(gives_away) AS gives_away,
    any_value(kind) AS kind
FROM read
GROUP BY ALL
ORDER BY ALL
