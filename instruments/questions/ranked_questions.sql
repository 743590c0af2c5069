-- The questions that models are to answer by each method, or the items that were scored: with their units and facets, and
-- their names. A question that is made for one model is left out: what it says is that model's.
SELECT
    dataset, language, method, count(*) AS items, count(DISTINCT unit) AS units,
    list([question_id, unit, facets] ORDER BY question_id) AS grouped, list(name ORDER BY question_id) AS names
FROM (
    SELECT DISTINCT r.dataset, r.language, r.method, question_id, q.unit, q.name, list_sort(map_entries(q.facets))::VARCHAR AS facets
    FROM question_requests AS r INNER JOIN questions AS q USING (question_id)
    WHERE r.owner IS NULL
)
GROUP BY ALL ORDER BY ALL
